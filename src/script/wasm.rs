//! WebAssembly modules of scripts: functions on numbers, computed by an interpreter with limited
//! fuel and memory and without imports.

use serde_json::{Number, Value};
use wasmi::{
    Config, Engine, ExternType, Linker, Store, StoreLimits, StoreLimitsBuilder, TrapCode, Val,
    ValType,
};

use super::error::{ScriptError, quoted};
use avocet_core::i18n::script as phrases;

/// Largest module, in bytes.
pub const MAX_SIZE: usize = 16 * 1024 * 1024;
/// Fuel of one call; about a second of computing.
const FUEL: u64 = 200_000_000;
/// Bytes of the memories of one module.
pub const MEMORY: usize = 64 * 1024 * 1024;

/// An instantiated module. Its memory lives as long as it does.
pub struct Module {
    store: Store<StoreLimits>,
    instance: wasmi::Instance,
    functions: Vec<(String, wasmi::FuncType)>,
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module").field("functions", &self.functions()).finish_non_exhaustive()
    }
}

impl Module {
    /// Parses a module and runs its start function.
    pub fn read(bytes: &[u8]) -> Result<Module, ScriptError> {
        if bytes.len() > MAX_SIZE {
            return Err(phrases::WASM_LARGE.with("megabytes", MAX_SIZE / (1024 * 1024)).into());
        }
        let mut config = Config::default();
        config.consume_fuel(true);
        let engine = Engine::new(&config);
        let module = wasmi::Module::new(&engine, bytes).map_err(|error| module_error(&error))?;
        if let Some(import) = module.imports().next() {
            let name = format!("{}.{}", import.module(), import.name());
            return Err(phrases::WASM_IMPORT.with("name", quoted(&name)).into());
        }
        let limits = StoreLimitsBuilder::new()
            .memory_size(MEMORY)
            .memories(4)
            .tables(16)
            .table_elements(100_000)
            .instances(1)
            .trap_on_grow_failure(true)
            .build();
        let mut store = Store::new(&engine, limits);
        store.limiter(|limits| limits);
        store.set_fuel(FUEL).map_err(|error| module_error(&error))?;
        let linker = Linker::new(&engine);
        let instance = linker
            .instantiate_and_start(&mut store, &module)
            .map_err(|error| trap_error(&error))?;
        let functions = module
            .exports()
            .filter_map(|export| match export.ty() {
                ExternType::Func(of) if is_numeric(of) => {
                    Some((export.name().to_owned(), of.clone()))
                }
                _ => None,
            })
            .collect();
        Ok(Module { store, instance, functions })
    }

    /// The exported functions whose arguments and results are all numbers.
    pub fn functions(&self) -> Vec<String> {
        self.functions.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Calls a function. No result is null, several are a list.
    pub fn call(&mut self, name: &str, args: &[Value]) -> Result<Value, ScriptError> {
        let no_function = || ScriptError::from(phrases::WASM_FUNCTION.with("name", quoted(name)));
        let (_, of) =
            self.functions.iter().find(|(known, _)| known == name).ok_or_else(no_function)?;
        let function = self.instance.get_func(&self.store, name).ok_or_else(no_function)?;
        let args = spread_args(args, of.params().len());
        if args.len() != of.params().len() {
            let counted =
                phrases::WASM_COUNT.with("name", quoted(name)).with("wanted", of.params().len());
            return Err(counted.with("given", args.len()).into());
        }
        let mut inputs = Vec::new();
        for (value, of) in args.iter().zip(of.params()) {
            let no_number = || {
                phrases::WASM_NUMBER
                    .with("name", quoted(name))
                    .with("value", quoted(&value.to_string()))
            };
            inputs.push(to_wasm(value, *of).ok_or_else(no_number)?);
        }
        let mut outputs: Vec<Val> =
            of.results().iter().map(|of| Val::default_for_ty(*of)).collect();
        self.store.set_fuel(FUEL).map_err(|error| module_error(&error))?;
        function
            .call(&mut self.store, &inputs, &mut outputs)
            .map_err(|error| trap_error(&error))?;
        let mut values: Vec<Value> = outputs.iter().map(to_json).collect();
        Ok(match values.len() {
            0 => Value::Null,
            1 => values.remove(0),
            _ => Value::Array(values),
        })
    }
}

/// A map as the only argument is spread into its values in order.
fn spread_args(args: &[Value], wanted: usize) -> Vec<Value> {
    match args {
        [Value::Object(map)] => map.values().take(wanted.max(map.len())).cloned().collect(),
        [Value::Array(items)] if wanted != 1 => items.clone(),
        args => args.to_vec(),
    }
}

fn is_numeric(of: &wasmi::FuncType) -> bool {
    let plain =
        |of: &ValType| matches!(of, ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64);
    of.params().iter().all(plain) && of.results().iter().all(plain)
}

fn to_wasm(value: &Value, of: ValType) -> Option<Val> {
    let value = match value {
        Value::Bool(yes) => Value::from(i64::from(*yes)),
        Value::String(text) => super::text::json5::parse_number(text.trim())?,
        other => other.clone(),
    };
    let float = value.as_f64()?;
    let whole = || value.as_i64().or_else(|| exact_integer(float));
    Some(match of {
        ValType::I32 => {
            let whole = whole()?;
            let signed = i32::try_from(whole).ok();
            // `0xffffffff` is -1 to WebAssembly.
            Val::I32(signed.or_else(|| u32::try_from(whole).ok().map(u32::cast_signed))?)
        }
        ValType::I64 => Val::I64(whole()?),
        ValType::F32 => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the function computes in this precision"
            )]
            let short = float as f32;
            Val::F32(short.into())
        }
        ValType::F64 => Val::F64(float.into()),
        _ => return None,
    })
}

/// The whole number a float represents.
fn exact_integer(float: f64) -> Option<i64> {
    let text = format!("{float:.0}");
    text.parse().ok().filter(|_| float.fract() == 0.0)
}

fn to_json(value: &Val) -> Value {
    match value {
        Val::I32(number) => Value::from(*number),
        Val::I64(number) => Value::from(*number),
        Val::F32(number) => json_number(f64::from(f32::from(*number))),
        Val::F64(number) => json_number(f64::from(*number)),
        _ => Value::Null,
    }
}

/// JavaScript's numbers do not distinguish whole floats from integers.
fn json_number(value: f64) -> Value {
    match exact_integer(value).filter(|whole| whole.unsigned_abs() < (1 << 53)) {
        Some(whole) => Value::from(whole),
        None => Number::from_f64(value).map_or(Value::Null, Value::Number),
    }
}

fn module_error(error: &wasmi::Error) -> ScriptError {
    phrases::WASM_BROKEN.with("why", quoted(&error.to_string())).into()
}

fn trap_error(error: &wasmi::Error) -> ScriptError {
    match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => ScriptError::limit(phrases::WASM_FUEL),
        Some(TrapCode::GrowthOperationLimited) => {
            ScriptError::limit(phrases::WASM_MEMORY.with("megabytes", MEMORY / (1024 * 1024)))
        }
        Some(TrapCode::StackOverflow) => ScriptError::limit(phrases::WASM_STACK),
        _ => module_error(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A module of one function without arguments, written byte by byte:
    /// `(func (export "f") (param …) (result …) body)`.
    fn module(params: &[u8], results: &[u8], body: &[u8], memory: bool) -> Vec<u8> {
        let small = |n: usize| u8::try_from(n).unwrap();
        let section = |id: u8, inside: &[u8]| [&[id, small(inside.len())], inside].concat();
        let kind =
            [&[1, 0x60, small(params.len())], params, &[small(results.len())], results].concat();
        let code = [&[1, small(body.len() + 2), 0], body, &[0x0b]].concat();
        let mut bytes = b"\0asm\x01\0\0\0".to_vec();
        bytes.extend(section(1, &kind));
        bytes.extend(section(3, &[1, 0]));
        if memory {
            bytes.extend(section(5, &[1, 0, 1]));
        }
        bytes.extend(section(7, &[1, 1, b'f', 0, 0]));
        bytes.extend(section(10, &code));
        bytes
    }

    const I32: u8 = 0x7f;
    const I64: u8 = 0x7e;
    const F64: u8 = 0x7c;

    /// ISDK-121: exported functions by name.
    #[test]
    fn isdk_121_a_function_of_numbers_is_called_by_its_name() {
        let mut add =
            Module::read(&module(&[I32, I32], &[I32], &[0x20, 0, 0x20, 1, 0x6a], false)).unwrap();
        assert_eq!(add.functions(), ["f"]);
        assert_eq!(add.call("f", &[json!(2), json!(3)]).unwrap(), json!(5));
        assert_eq!(add.call("f", &[json!({"a": 2, "b": 3})]).unwrap(), json!(5));
        assert_eq!(add.call("f", &[json!("2"), json!(4_294_967_295_u32)]).unwrap(), json!(1));
        let mut add =
            Module::read(&module(&[F64, F64], &[F64], &[0x20, 0, 0x20, 1, 0xa0], false)).unwrap();
        assert_eq!(add.call("f", &[json!(0.5), json!(1)]).unwrap(), json!(1.5));
        assert_eq!(add.call("f", &[json!(0.5), json!(0.5)]).unwrap(), json!(1));
        let mut same = Module::read(&module(&[I64], &[I64], &[0x20, 0], false)).unwrap();
        assert_eq!(same.call("f", &[json!(i64::MAX)]).unwrap(), json!(i64::MAX));
        assert_eq!(
            Module::read(&module(&[], &[], &[], false)).unwrap().call("f", &[]).unwrap(),
            json!(null)
        );
    }

    #[test]
    fn invalid_calls_are_rejected_with_an_error() {
        let mut add =
            Module::read(&module(&[I32, I32], &[I32], &[0x20, 0, 0x20, 1, 0x6a], false)).unwrap();
        for (name, args) in [
            ("g", vec![]),
            ("f", vec![json!(1)]),
            ("f", vec![json!("x"), json!(1)]),
            ("f", vec![json!(1.5), json!(1)]),
            ("f", vec![json!(1_u64 << 40), json!(1)]),
        ] {
            assert!(add.call(name, &args).is_err(), "{args:?}");
        }
        assert!(Module::read(b"no module").is_err());
        let import = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x07\x01\x01a\x01b\0\0";
        assert!(Module::read(import).unwrap_err().to_string().contains("`a.b`"));
    }

    #[test]
    fn endless_loops_recursion_and_memory_growth_are_stopped() {
        let endless = [0x03, 0x40, 0x0c, 0, 0x0b];
        let why =
            |bytes: &[u8]| Module::read(bytes).unwrap().call("f", &[]).unwrap_err().to_string();
        assert!(why(&module(&[], &[], &endless, false)).contains("ran for too long"));
        let recursive = [0x10, 0];
        assert!(why(&module(&[], &[], &recursive, false)).contains("too deep"));
        // Asks for 10,000 pages more.
        let grow = [0x41, 0x90, 0xce, 0, 0x40, 0, 0x1a];
        assert!(why(&module(&[], &[], &grow, true)).contains("64 MiB"));
    }
}
