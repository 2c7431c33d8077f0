//! Each value is compared with the one that the engine gives.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, json};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::super::{Engine, JsLimits, JsTask, TaskOutcome};
use super::*;

fn scope() -> Map<String, Value> {
    let scope = json!({
        "n": 4, "half": 0.5, "zero": 0, "minus": -3, "big": 9_007_199_254_740_991_u64,
        "s": "ab", "empty": "", "astral": "a😀", "yes": true, "no": false, "nil": null,
        "list": [1, [2, 3], "x"], "map": {"a": 1, "deep": {"b": [5]}}, "名": "值",
        "people": [{"name": "Ann", "age": 31, "tags": ["a", "b"]}, {"name": "Bo", "age": 4}],
        "words": " one, two , three ", "number": "12.5", "tiny": 0.000_000_1, "price": 2.345,
        "odd": {"2": "two", "1": "one", "b": 0, "toString": 1}, "texts": ["b", "", "a", "b"],
        "lines": "x\ny\t'z'", "undefinedNot": null,
    });
    scope.as_object().unwrap().clone()
}

fn evaluate<'v>(text: &str, lookup: &dyn Fn(&str) -> Option<&'v Value>) -> Option<Value> {
    ParsedExpression::read(text)?.evaluate(lookup)
}

fn quick(text: &str) -> Option<Value> {
    let scope = scope();
    evaluate(text, &|name| scope.get(name))
}

/// Operands, signs and whole expressions, one to a line or word.
const OPERANDS: &str = "n half zero minus big s empty astral yes no nil list map 名 7 1.25 't' \
    \"u\" true null list[1] list[1][0] list.length astral.length map.a map['deep'].b[0] (n) -n !s \
    this.n list[9] map.none s.none map.toString list['length'] nil.a";
const SIGNS: &str =
    "+ - * / % < <= > >= == != === !== && || ?? ** & | ^ << >> >>> , in = += &= >>>=";
const WHOLE: &str = "n+1<5&&s=='ab'
    1+2*3-4/2
    (1+2)*3
    2-1-1
    n | 0
    ~n
    ~~half
    ~big
    big | 0
    ~s
    yes | no
    minus >>> 0
    minus >>> 33
    minus >> 1
    n << 33
    -1 << 31
    1 + n | 2 & 6 ^ 3
    n & 1 == 0
    n < 3 << 1
    n | yes || no
    2147483647 + 1 | 0
    n &&& n
    n |~ zero
    n++
    --n
    n // x
    n /2/ 2
    010
    0x10
    1e3
    1_000
    'a\\nb'
    s.trim()
    [n]
    {a:n}
    n ? 1
    `${n}`
    n ?. a
    !!n
    -(-n)
    1 - -1
    1 <!--n
    s + n + half
    half + s
    typeof n
    n; 1
    (n, 1)
    list[-1]
    list['0']
    s[0]
    n = 5
    1/0
    0/0
    big + 1
    big * 2
    -zero
    '' + -zero
    undefined
    nil ?? 'x'
    nil || yes && n
    nil ?? no || n
    no && nil ?? n
    yes ? no ? 1 : 2 : 3
    n > 3 > 1
    $n
    n.$x
    this
    this.none
    (n
    n)
    map.deep.b.length * 2 + '!'
    名 + 名.length";

/// Calls and members, which need no engine either if their value is plain.
const CALLS: &str = r#"words.trim()
    words.split(',').map(w => w.trim()).filter(w => w !== 'two').join('-')
    s.toUpperCase() + astral.toUpperCase()
    astral.slice(0, 2)
    astral.slice(1)
    astral.at(-1)
    astral.charAt(0) + s.charAt(9)
    s[5] ?? 'none'
    s.padStart(5, '01') + s.padEnd(4) + '|'
    s.repeat(3).replaceAll('a', 'x').replace('b', '')
    s.replace('a', '$&')
    s.repeat(-1)
    s.substring(1, 0) + s.substring(-2, 1)
    words.indexOf('two') + words.lastIndexOf('e')
    words.includes('two') && words.startsWith(' one') && words.endsWith(' ')
    '\ufeff x\u0085'.trim()
    people.map(p => p.name)
    people.map(({name}) => name)
    people.filter(p => p.age > 18).length
    people.find(p => p.name == 'Bo')?.age ?? 'nobody'
    people.find(p => p.none)?.age
    people.find(p => p.none)?.age.more ?? 'short'
    people.findIndex(p => p.age < 10)
    people.some(p => !p.tags) && people.every(p => p.age)
    people.reduce((sum, p) => sum + p.age, 0)
    [].reduce((a, b) => a + b)
    people.map((p, i) => `${i + 1}. ${p.name}`).join('\n')
    people.flatMap(p => p.tags ?? [])
    people.map(p => ({...p}))
    people.map(p => ({...p, name: 1, x: p.age}))
    ({...nil, a: 1, ...map, ...undefined})
    ({...odd})
    ({...list})
    Object.entries(map).map(([key, value]) => key)
    Object.entries(map).map(([key, value], i) => { return key + i; })
    people.map(({name, age: old}) => name + old)
    people.map(({none}) => none)
    people.map(({name = 1}) => name)
    people.map(p => { p.name })
    people.map(p => {})
    list.map(([x]) => x)
    [[1, 2]].map(([x, x]) => x)
    [[1, 2]].map(([x, [y]]) => x)
    people.map(p => ({name: p.name, old: p.age > 18}))
    people.map(p => { return p.name })
    people.map(name => people.map(name => name.name).length + name.age)
    people[1].tags?.length ?? 0
    people[0].tags?.[1]
    people[9]?.name ?? 'x'
    people[9].name
    people.length > 1 ? people.at(-1).name : null
    people.slice(1).concat(list, 3)
    people.at(5) ?? null
    list.includes('x') || list.indexOf(7)
    list.includes(list)
    list.join() + list.toString() + list
    list.flat()
    [1, ...list, n]
    [undefined, nil].length
    [n].map(x => x.none)
    Math.max(...list.flat().slice(0, 2)) + Math.min(1, minus, half)
    Math.max()
    Math.round(-0.5) + Math.round(2.5) + Math.floor(-1.5) + Math.trunc(-1.5) + Math.sign(minus)
    Math.sqrt(2) * Math.abs(minus)
    Math.PI
    Number(number) + Number('') + Number(yes) + Number(nil)
    Number('0x10')
    Number('12px')
    Number([])
    parseInt('42 pages') + parseInt(number, 10) + parseFloat(number)
    parseInt('x')
    parseInt('-12abc') + parseInt('+7')
    String(n) + String(half) + String(nil) + String(list) + String(map) + String(undefined)
    String(tiny) + tiny
    Boolean(s) && !Boolean(empty)
    isNaN(n) || Number.isInteger(half) || Number.isInteger(n)
    JSON.stringify(map) + JSON.stringify(lines) + JSON.stringify(half)
    JSON.stringify(odd)
    JSON.stringify({a: undefined})
    Object.keys(map).concat(Object.values(map.deep))
    Object.keys(odd)
    Object.entries(map.deep).length
    odd.toString + odd['2'] + odd[1]
    map.toString
    map.hasOwnProperty('a')
    map.none ?? map['no' + 'ne'] === undefined
    Array.isArray(list) && !Array.isArray(map)
    price.toFixed(2) + half.toFixed() + n.toFixed(2) + minus.toFixed(1)
    (0.000001).toFixed(7)
    n.toString() + half.toString()
    n.toString(2)
    typeof n + typeof s + typeof nil + typeof list + typeof undefined + typeof map.none
    typeof unknown
    typeof Math
    `${n}${s}${list}${nil}${undefined} $ {n} ${`in ${n}`}`
    `a\`b\${n}`
    'it\'s' + "\t" + 'a"b'
    {a: n, 'b c': s, s, "名": 1}
    {a: 1, a: 2}
    {1: n}
    {__proto__: n}
    {undefined}
    nil?.a.b.c ?? 'gone'
    nil?.['a'](n)
    nil.a
    list?.[0]?.none
    n?.5:1
    n ?.5:1
    yes?.5:1
    list.push(1)
    list.sort()
    s.split('') + astral.split('')
    s.split()
    s.concat('x') + list.concat([1]).length
    (x => x)(1)
    x => x
    n => n + 1
    list.map(n => n + 1)
    list.map((x, x) => x)
    list.map(async x => x)
    list.map(x
      => x)
    null == undefined && null !== undefined && list != null && map !== 1
    list == '1,2,3,x'
    '值' < '名' || '😀' < '￮'
    s + list + map + nil + yes
    nil + n
    map.deep.b.map(b => b * 2)[0]
    (nil?.a).b
    ((((n))))"#;

/// The engine, and how many expressions needed none.
struct Comparison {
    runtime: Runtime,
    engine: Engine,
    known: usize,
}

impl Comparison {
    fn new() -> Comparison {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        Comparison {
            runtime,
            engine: Engine::start(JsLimits::default(), CancellationToken::new()).unwrap(),
            known: 0,
        }
    }

    /// A value that is found here is the one of the engine.
    fn check(&mut self, text: &str) {
        let Some(value) = quick(text) else { return };
        self.known += 1;
        let task = JsTask::eval(text);
        let ended = self.runtime.block_on(self.engine.compute(task, scope()));
        assert_eq!(ended.outcome, Ok(TaskOutcome::Value(value)), "{text}");
    }
}

#[test]
fn what_is_evaluated_here_has_the_value_of_the_engine() {
    let names: Vec<&str> = OPERANDS.split_whitespace().collect();
    let mut signs = SIGNS.split_whitespace().cycle();
    let mut texts: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    texts.extend(WHOLE.lines().map(|line| line.trim().to_owned()));
    texts.extend(CALLS.lines().map(|line| line.trim().to_owned()));
    for left in &names {
        for right in &names {
            let sign = signs.next().unwrap();
            texts.push(format!("{left} {sign} {right}"));
            texts.push(format!("{right}{sign}{left}"));
            texts.push(format!("{left} ? {right} : n+1 > 2 * {left}"));
            texts.push(format!("{left} {sign} !{right} && n - 1 - 1"));
        }
    }
    let mut comparison = Comparison::new();
    texts.iter().for_each(|text| comparison.check(text));
    assert!(comparison.known > 1000, "{}", comparison.known);
}

const LEAVES: &[&str] = &[
    "n",
    "half",
    "zero",
    "minus",
    "s",
    "empty",
    "astral",
    "words",
    "number",
    "price",
    "lines",
    "yes",
    "nil",
    "list",
    "texts",
    "people",
    "people[0]",
    "map",
    "odd",
    "名",
    "x",
    "i",
    "1",
    "2.5",
    "'a'",
    "\"b, c\"",
    "', '",
    "null",
    "undefined",
    "true",
    "[]",
    "{}",
    "`t`",
    "this.n",
];
const FIELDS: &[&str] = &["length", "name", "age", "tags", "a", "deep", "none", "toString", "b"];
const METHODS: &[&str] = &[
    "trim",
    "trimEnd",
    "toUpperCase",
    "toLowerCase",
    "includes",
    "startsWith",
    "endsWith",
    "indexOf",
    "lastIndexOf",
    "slice",
    "substring",
    "charAt",
    "charCodeAt",
    "at",
    "split",
    "replace",
    "replaceAll",
    "repeat",
    "padStart",
    "padEnd",
    "concat",
    "toString",
    "toFixed",
    "join",
    "flat",
    "reverse",
    "push",
    "sort",
    "localeCompare",
];
const VISITS: &[&str] =
    &["map", "filter", "find", "findIndex", "some", "every", "flatMap", "reduce", "forEach"];
const FUNCTIONS: &[&str] = &[
    "Math.abs",
    "Math.ceil",
    "Math.floor",
    "Math.max",
    "Math.min",
    "Math.round",
    "Math.sign",
    "Math.sqrt",
    "Math.trunc",
    "Number",
    "String",
    "Boolean",
    "parseInt",
    "parseFloat",
    "isNaN",
    "Number.isInteger",
    "Array.isArray",
    "Object.keys",
    "Object.values",
    "Object.entries",
    "JSON.stringify",
];

/// Expressions of everything that is read here, most of them with a value.
fn expressions() -> impl Strategy<Value = String> {
    let signs: Vec<&str> = SIGNS.split_whitespace().collect();
    select(LEAVES).prop_map(str::to_owned).prop_recursive(4, 24, 3, move |part| {
        let two = (part.clone(), part.clone());
        prop_oneof![
            3 => (part.clone(), select(signs.clone()), part.clone())
                .prop_map(|(a, sign, b)| format!("{a} {sign} {b}")),
            1 => (part.clone(), part.clone(), part.clone())
                .prop_map(|(a, b, c)| format!("{a} ? {b} : {c}")),
            1 => (select(&["!", "-", "typeof ", "("][..]), part.clone())
                .prop_map(|(sign, a)| if sign == "(" { format!("({a})") } else { format!("{sign}{a}") }),
            2 => (part.clone(), select(&[".", "?."][..]), select(FIELDS))
                .prop_map(|(a, dot, field)| format!("{a}{dot}{field}")),
            2 => (two.clone(), select(&["", "?."][..]))
                .prop_map(|((a, b), dot)| format!("{a}{dot}[{b}]")),
            2 => (part.clone(), select(METHODS)).prop_map(|(a, name)| format!("{a}.{name}()")),
            3 => (two.clone(), select(METHODS)).prop_map(|((a, b), name)| format!("{a}.{name}({b})")),
            2 => (part.clone(), two.clone(), select(METHODS))
                .prop_map(|(a, (b, c), name)| format!("{a}.{name}({b}, {c})")),
            3 => (two.clone(), select(VISITS), select(&["x", "(x, i)", "()", "({name})", "({a: x}, i)", "([x, i])"][..]))
                .prop_map(|((a, b), name, names)| format!("{a}.{name}({names} => {b})")),
            1 => (two.clone(), select(VISITS))
                .prop_map(|((a, b), name)| format!("{a}.{name}(x => {{ return {b}; }})")),
            1 => two.clone().prop_map(|(a, b)| format!("{{...{a}, k: {b}, ...{b}}}")),
            2 => (two.clone(), select(FUNCTIONS)).prop_map(|((a, b), name)| format!("{name}({a}, {b})")),
            3 => (part.clone(), select(FUNCTIONS)).prop_map(|(a, name)| format!("{name}({a})")),
            1 => two.clone().prop_map(|(a, b)| format!("[{a}, ...{b}]")),
            1 => two.clone().prop_map(|(a, b)| format!("{{k: {a}, 'l m': {b}}}")),
            1 => two.prop_map(|(a, b)| format!("`t${{{a}}} u${{ {b} }}`")),
        ]
    })
}

#[test]
fn any_expression_that_is_evaluated_here_has_the_value_of_the_engine() {
    let comparison = std::cell::RefCell::new(Comparison::new());
    let config = Config {
        cases: 6000,
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let checked = TestRunner::new(config).run(&expressions(), |text| {
        comparison.borrow_mut().check(&text);
        Ok(())
    });
    checked.unwrap();
    let known = comparison.borrow().known;
    assert!(known > 300, "{known}");
}

#[test]
fn what_takes_long_is_left_to_the_engine_which_can_be_stopped() {
    let items: Vec<Value> = (0..30_000).map(Value::from).collect();
    let scope = Map::from_iter([("list".to_owned(), Value::from(items))]);
    let quick = |text: &str| evaluate(text, &|name| scope.get(name));
    assert_eq!(quick("list.map(x => list.map(y => x * y))"), None);
    assert_eq!(quick("'x'.repeat(60000).repeat(60000)"), None);
    assert_eq!(quick("list.join('-')"), None);
    assert_eq!(quick("list.length + list[29999]"), Some(json!(59_999)));
}

#[test]
fn usual_expressions_need_no_engine() {
    for (text, value) in [
        ("n+1", json!(5)),
        ("n < 10000", json!(true)),
        ("s == 'ab' && !empty", json!(true)),
        ("list.length > 2 ? 'many' : 'few'", json!("many")),
        ("map.deep.b[0] * 2", json!(10)),
        ("'no. ' + n", json!("no. 4")),
        ("this.n % 3 === 1", json!(true)),
        ("people.filter(p => p.age > 18).map(p => p.name).join(', ')", json!("Ann")),
        ("people.find(p => p.name === 'Cid')?.age ?? 'nobody'", json!("nobody")),
        ("`${s}: ${list.length}`", json!("ab: 3")),
        ("words.trim().split(',').length", json!(3)),
        ("Math.max(n, half) + Math.round(2.5)", json!(7)),
        ("JSON.stringify({n, s})", json!("{\"n\":4,\"s\":\"ab\"}")),
        ("Object.keys(map)", json!(["a", "deep"])),
        ("people.reduce((sum, p) => sum + p.age, 0)", json!(35)),
        ("people.map(({name}) => name).length", json!(2)),
        ("people.filter(p => { return p.age > 18 }).length", json!(1)),
        ("{...map, b: 2}.b", json!(2)),
        ("Object.entries(map).map(([key]) => key)", json!(["a", "deep"])),
        ("typeof s == 'string' && Array.isArray(list)", json!(true)),
        ("half | 0", json!(0)),
        ("(~minus << 4 | 3) & 255", json!(35)),
    ] {
        assert_eq!(quick(text), Some(value), "{text}");
    }
}
