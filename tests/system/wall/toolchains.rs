//! Toolchains outside the system's folders: what runs of them, and what they open.

use pretty_assertions::assert_eq;

use super::*;

/// As pyenv, conda or uv of another home install an interpreter.
#[tokio::test]
async fn programs_of_an_environment_run_wherever_its_interpreter_is() {
    let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let tree = wall.at("other/pythons/3.12");
    let python = tree.join("bin/python3");
    wall.write(&tree.join("lib/module"), "echo module");
    wall.write(&wall.at("other/private"), "SECRET");
    fs::create_dir_all(tree.join("bin")).unwrap();
    fs::copy(Path::new("/bin/bash").canonicalize().unwrap(), &python).unwrap();
    let load = format!(". {}", tree.join("lib/module").display());
    let mut programs = vec![(python.clone(), vec!["-c", &load])];
    for folder in [wall.workspace().join(".venv"), wall.at("envs/x")] {
        wall.write(&folder.join("pyvenv.cfg"), "home = x\n");
        fs::create_dir_all(folder.join("bin")).unwrap();
        std::os::unix::fs::symlink(&python, folder.join("bin/python")).unwrap();
        wall.write(&folder.join("lib/package"), &load);
        let load = format!("read -r home < {0}/pyvenv.cfg && . {0}/lib/package", folder.display());
        let load: &str = load.leak();
        let script = format!("#!{}\n{load}\n", folder.join("bin/python").display());
        wall.write(&folder.join("bin/pytest"), &script);
        programs.push((folder.join("bin/python"), vec!["-c", load]));
        programs.push((folder.join("bin/pytest"), vec![]));
    }
    for (program, args) in programs {
        let words = [&[program.to_str().unwrap()], &args[..]].concat();
        let seen = wall.run(&words).await;
        assert_eq!(seen.stdout, "module\n", "{words:?}: {:?} {}", seen.note, seen.stderr);
    }
    let read = format!("cat {}; echo done", wall.at("other/private").display());
    let seen = wall.run(&[python.to_str().unwrap(), "-c", &read]).await;
    assert_eq!(seen.stdout, "done\n", "the tree is open, and nothing beside it");
}

/// A toolchain that somebody installed: where its programs are, where the user's `PATH` has them
/// or a link to them, and what beside them they need.
struct Installed {
    program: &'static str,
    library: &'static str,
    /// A link in a folder of `PATH`; empty: the folder of the program is in `PATH`.
    link: &'static str,
}

#[rustfmt::skip]
const INSTALLED: &[Installed] = &[
    Installed { program: "home/.nvm/versions/node/v22.1.0/bin/node", library: "home/.nvm/versions/node/v22.1.0/lib/x", link: "" },
    Installed { program: "home/.local/share/fnm/node-versions/v20/installation/bin/node", library: "home/.local/share/fnm/node-versions/v20/installation/lib/x", link: "run/fnm_multishells/1_2/bin/node" },
    Installed { program: "home/.volta/tools/image/node/22.1.0/bin/node", library: "home/.volta/tools/image/node/22.1.0/lib/x", link: "home/.volta/bin/node" },
    Installed { program: "home/.asdf/installs/nodejs/20/bin/node", library: "home/.asdf/installs/nodejs/20/lib/x", link: "home/.asdf/shims/node" },
    Installed { program: "home/.local/share/mise/installs/node/20/bin/node", library: "home/.local/share/mise/installs/node/20/lib/x", link: "" },
    Installed { program: "home/.rbenv/versions/3.3.0/bin/ruby", library: "home/.rbenv/versions/3.3.0/lib/x", link: "" },
    Installed { program: "home/.rvm/rubies/ruby-3.3.0/bin/ruby", library: "home/.rvm/rubies/ruby-3.3.0/lib/x", link: "" },
    Installed { program: "home/.sdkman/candidates/java/21/bin/java", library: "home/.sdkman/candidates/java/21/lib/x", link: "" },
    Installed { program: "home/sdk/go1.22/bin/go", library: "home/sdk/go1.22/lib/x", link: "" },
    Installed { program: "data/go/bin/go", library: "data/go/pkg/tool/x", link: "" },
    Installed { program: "data/go2/bin/go", library: "data/go2/lib/x", link: "home/bin/go" },
    Installed { program: "data/rustup/toolchains/stable/bin/rustc", library: "data/rustup/toolchains/stable/lib/x", link: "" },
    Installed { program: "data/conda/envs/x/bin/python3", library: "data/conda/envs/x/lib/x", link: "" },
    Installed { program: "home/miniforge3/envs/y/bin/R", library: "home/miniforge3/envs/y/lib/x", link: "" },
    Installed { program: "home/.pixi/envs/tool/bin/tool", library: "home/.pixi/envs/tool/lib/x", link: "home/.pixi/bin/tool" },
    Installed { program: "home/perl5/perlbrew/perls/perl-5.38/bin/perl", library: "home/perl5/perlbrew/perls/perl-5.38/lib/x", link: "" },
    Installed { program: "home/brew/Cellar/jq/1.7/bin/jq", library: "home/brew/lib/x", link: "home/brew/bin/jq" },
    Installed { program: "home/.deno/bin/deno", library: "", link: "" },
    Installed { program: "home/.bun/bin/bun", library: "", link: "" },
    Installed { program: "home/bin/own", library: "", link: "" },
    Installed { program: "home/apps/zig-linux/zig", library: "home/apps/zig-linux/lib/x", link: "home/bin/zig" },
    Installed { program: "home/.local/share/pypoetry/venv/bin/poetry", library: "home/.local/share/pypoetry/venv/lib/x", link: "home/.local/bin/poetry" },
    Installed { program: "home/Android/platform-tools/adb", library: "home/Android/platform-tools/lib64/x", link: "" },
    Installed { program: "other/app/node_modules/.bin/tsc", library: "other/app/node_modules/typescript/lib/x", link: "" },
    Installed { program: "home/.config/composer/vendor/tool/bin/tool", library: "home/.config/composer/vendor/autoload.php", link: "home/.config/composer/vendor/bin/tool" },
    // A copy of a repository in which tools are kept.
    Installed { program: "home/fzf/bin/fzf", library: "", link: "" },
];

/// The programs that the user starts by their names also start in a step, in what the step starts,
/// and as interpreters of scripts, with the libraries beside them.
#[tokio::test]
async fn toolchains_of_the_users_path_run_wherever_they_are_installed() {
    let shell = Path::new("/bin/bash").canonicalize().unwrap();
    let (mut wrong, mut by_path) = (Vec::new(), 0);
    for row in INSTALLED {
        let Some(mut wall) = Wall::new() else { return skip(Reason::NoSandbox) };
        let program = wall.at(row.program);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::copy(&shell, &program).unwrap();
        wall.write(&wall.home("fzf/.git/HEAD"), "ref: x\n");
        for name in ["home/notes.txt", "other/app/.env", "data/private", "home/.ssh/id", "run/x"] {
            wall.write(&wall.at(name), "SECRET\n");
        }
        let mut load = "echo started; ".to_owned();
        if !row.library.is_empty() {
            wall.write(&wall.at(row.library), "echo library\n");
            load += &format!(". {}; ", wall.at(row.library).display());
        }
        let mut folder = program.parent().unwrap().to_owned();
        if !row.link.is_empty() {
            folder = wall.at(row.link).parent().unwrap().to_owned();
            fs::create_dir_all(&folder).unwrap();
            let up = pathdiff(&folder, &program);
            std::os::unix::fs::symlink(up, wall.at(row.link)).unwrap();
        }
        wall.set_path(&[&folder]);
        let name = program.file_name().unwrap().to_str().unwrap();
        for secret in ["home/notes.txt", "other/app/.env", "data/private", "home/.ssh/id", "run/x"]
        {
            load += &format!("read -r x < {} && echo $x; ", wall.at(secret).display());
        }
        load += "echo done";
        let expected =
            if row.library.is_empty() { "started\ndone\n" } else { "started\nlibrary\ndone\n" };
        let mut runs = Vec::new();
        let seen = wall.script(&format!("{name} -c '{load}' 2>/dev/null")).await;
        runs.push(seen);
        wall.write(&wall.workspace().join("run"), &format!("#!/usr/bin/env {name}\n{load}\n"));
        let seen = wall.script("./run 2>/dev/null").await;
        runs.push(seen);
        // A path asks once where it names an interpreter, and is refused elsewhere.
        let words = [program.to_str().unwrap(), "-c", &load];
        if let Some(cleared) = wall.cleared(&Policy::default(), &words) {
            runs.push(wall.run_cleared(cleared).await);
            by_path += 1;
        }
        for (at, seen) in runs.iter().enumerate().filter(|(_, seen)| seen.stdout != expected) {
            let Observation { stdout, stderr, note, .. } = seen;
            wrong.push(format!("{} {at}: {stdout:?} {stderr} {note:?}", row.program));
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(by_path >= 14, "{by_path} of them were named by their paths");
}

/// Programs of version managers, and what each of them needs beside its folder.
const OF_MANAGERS: &[(&str, &str)] = &[
    (".pyenv/shims/python", ".pyenv/versions/3.12/lib/x"),
    (".rbenv/shims/ruby", ".rbenv/libexec/rbenv"),
    (".asdf/shims/node", ".asdf/installs/nodejs/20/x"),
    (".local/share/mise/shims/node", ".local/share/mise/installs/node/20/x"),
    (".volta/bin/node", ".volta/tools/user/platform.json"),
    (".ghcup/bin/ghc", ".ghcup/ghc/9.8/lib/x"),
    (".juliaup/bin/julia", ".juliaup/julia-1.10.0/lib/x"),
    (".dotnet/dotnet", ".dotnet/host/fxr/x"),
];

#[tokio::test]
async fn programs_of_version_managers_read_what_these_keep_for_them() {
    let shell = Path::new("/bin/bash").canonicalize().unwrap();
    let mut ran = 0;
    for home in ["home", "other"] {
        for (program, library) in OF_MANAGERS {
            let Some(wall) = Wall::new() else { return skip(Reason::NoSandbox) };
            let program = wall.at(home).join(program);
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            fs::copy(&shell, &program).unwrap();
            let library = wall.at(home).join(library);
            wall.write(&library, "echo library\n");
            let mut load = format!(". {}; ", library.display());
            for secret in [".dotnet/corefx/cryptography/key", "notes.txt", ".volta/credentials"] {
                // What the user's own manager has is open to every step.
                if home == "other" {
                    wall.write(&wall.at("other").join(secret), "SECRET\n");
                    load +=
                        &format!("read -r x < {}/{secret} && echo $x; ", wall.at(home).display());
                }
            }
            load += "echo done";
            // In the user's own home some of them are programs of `PATH` and no others.
            let words = [program.to_str().unwrap(), "-c", &load];
            let Some(cleared) = wall.cleared(&Policy::default(), &words) else { continue };
            let seen = wall.run_cleared(cleared).await;
            assert_eq!(seen.stdout, "library\ndone\n", "{program:?}: {}", seen.stderr);
            ran += 1;
        }
    }
    assert!(ran >= 13, "{ran} of them were known by their paths");
}

/// The path from a folder to a file, as links of package managers are written.
fn pathdiff(from: &Path, to: &Path) -> PathBuf {
    let common = from.ancestors().find(|above| to.starts_with(above)).unwrap();
    let up = from.strip_prefix(common).unwrap().components().map(|_| "..");
    up.collect::<PathBuf>().join(to.strip_prefix(common).unwrap())
}

/// A library beside a program is found by the program itself, as a loader does.
#[tokio::test]
async fn a_program_of_the_users_path_loads_the_library_that_is_beside_it() {
    let Some(mut wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    if !Path::new("/usr/bin/cc").exists() {
        return skip(Reason::NotInstalled("cc"));
    }
    for (name, text) in [
        ("library.c", "int answer(void) { return 42; }\n"),
        (
            "main.c",
            "#include <stdio.h>\nint answer(void);\nint main(void) { printf(\"%d\\n\", answer()); }\n",
        ),
    ] {
        wall.write(&wall.at(name), text);
    }
    let tree = wall.at("data/tool-1.0");
    for folder in ["bin", "lib"] {
        fs::create_dir_all(tree.join(folder)).unwrap();
    }
    let built = |args: &[&str]| {
        let run =
            std::process::Command::new("/usr/bin/cc").current_dir(wall.at("")).args(args).status();
        assert!(run.unwrap().success(), "{args:?}");
    };
    built(&["-shared", "-fPIC", "-o", "data/tool-1.0/lib/libanswer.so", "library.c"]);
    built(&[
        "-o",
        "data/tool-1.0/bin/answer",
        "main.c",
        "-Ldata/tool-1.0/lib",
        "-lanswer",
        "-Wl,-rpath,$ORIGIN/../lib",
    ]);
    fs::create_dir_all(wall.home("bin")).unwrap();
    std::os::unix::fs::symlink(tree.join("bin/answer"), wall.home("bin/answer")).unwrap();
    for folder in [tree.join("bin"), wall.home("bin")] {
        wall.set_path(&[&folder]);
        let seen = wall.script("answer").await;
        assert_eq!(seen.stdout, "42\n", "{folder:?}: {}", seen.stderr);
    }
}

/// What a project says of interpreters and environments opens nothing but installations.
#[tokio::test]
async fn neither_a_script_nor_an_environment_of_the_project_opens_another_project() {
    let Some(mut wall) = Wall::new() else { return skip(Reason::NoSandbox) };
    let shell = Path::new("/bin/bash").canonicalize().unwrap();
    for folder in ["home/other", "home/plain", "home/.aws"] {
        for name in ["lib/x", "bin/data", ".env", "secret"] {
            wall.write(&wall.at(folder).join(name), "SECRET\n");
        }
        fs::copy(&shell, wall.at(folder).join("bin/python3")).unwrap();
    }
    wall.write(&wall.at("home/other/.git/HEAD"), "ref: x\n");
    fs::remove_dir_all(wall.at("home/plain/lib")).unwrap();
    let mut reads = String::new();
    for folder in ["home/other", "home/plain", "home/.aws"] {
        for name in ["lib/x", "bin/data", ".env", "secret"] {
            let path = wall.at(folder).join(name);
            reads += &format!("cat {} 2>/dev/null\n", path.display());
        }
    }
    for folder in ["home/other", "home/plain", "home/.aws"] {
        let bin = wall.at(folder).join("bin");
        let text = format!("#!{}/python3\n{reads}echo done\n", bin.display());
        wall.write(&wall.workspace().join("tool"), &text);
        wall.write(
            &wall.workspace().join(".venv/pyvenv.cfg"),
            &format!("home = {}\n", bin.display()),
        );
        wall.write(
            &wall.workspace().join(".venv/bin/tool"),
            &format!("#!/bin/sh\n{reads}echo done\n"),
        );
        let linked = wall.workspace().join("bin/linked");
        fs::create_dir_all(linked.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&linked);
        std::os::unix::fs::symlink(bin.join("python3"), &linked).unwrap();
        wall.set_path(&[linked.parent().unwrap()]);
        wall.write(
            &wall.workspace().join("by-path"),
            &format!("#!/bin/sh\nlinked -c true\n{reads}"),
        );
        for program in ["./by-path", "./tool", ".venv/bin/tool"] {
            let seen = wall.run(&[program]).await;
            assert!(!seen.stdout.contains("SECRET"), "{folder} {program}: {}", seen.stdout);
        }
    }
}
