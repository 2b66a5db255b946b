//! The link kit, used as its users do: from an empty prefix, by CMake and by pkg-config, in C, in C++ and beside libtorch.
use super::tally::Tally;
use crate::dist::{self, Kit, Tools};
use crate::obtain::Interpreter;
use crate::ui::Step;
use crate::{place, run};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of `tests/link`.
struct Program<'a> {
    kit: &'a Kit,
    tools: &'a Tools,
    python: &'a Interpreter,
    name: &'static str,
}

/// Builds the kit for an interpreter and everything that links it, and runs that.
pub fn run(python: &Interpreter) -> Result<Tally> {
    let out = place::target().join("link").join("dist");
    let kit = dist::make(&out, std::slice::from_ref(python), false)?;
    let tools = Tools::ensure(python)?;
    let program = |name| Program { kit: &kit, tools: &tools, python, name };
    let mut tally = Tally::default();
    let mut one = |name: &str, result: Result<()>| match result {
        Ok(()) => tally.passed += 1,
        Err(error) => {
            crate::ui::advice::report(&error);
            tally.failed.push(format!("link {name}"));
        }
    };
    one("tables by CMake", program("tables").by_cmake());
    one("tables by pkg-config", program("tables").by_pkg_config());
    one("embedded Python", program("embed").embedded());
    one("wheel", wheel(python, &out));
    Ok(tally)
}

/// The extension module against libtorch, in an environment that has PyTorch.
pub fn torch(python: &Interpreter, with_torch: &Interpreter) -> Result<Tally> {
    let out = place::target().join("link").join("dist");
    let kit = dist::make(&out, std::slice::from_ref(python), false)?;
    let tools = Tools::ensure(python)?;
    let program = Program { kit: &kit, tools: &tools, python: with_torch, name: "torch" };
    match program.beside_torch() {
        Ok(()) => Ok(Tally { passed: 1, ..Tally::default() }),
        Err(error) => {
            crate::ui::advice::report(&error);
            Ok(Tally::failure("link torch".to_owned()))
        }
    }
}

impl Program<'_> {
    fn source(&self) -> PathBuf {
        place::root().join("tests").join("link").join(self.name)
    }

    fn build(&self) -> PathBuf {
        place::target().join("link").join(self.name)
    }

    /// Configures and builds, from nothing.
    fn cmake(&self, options: &[String]) -> Result<()> {
        let build = self.build();
        if build.exists() {
            std::fs::remove_dir_all(&build)?;
        }
        let mut configure = self.tools.command("cmake");
        configure.arg("-S").arg(self.source()).arg("-B").arg(&build).args(["-G", "Ninja"]);
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", self.kit.prefix().display())).args(options);
        configure.arg(format!("-DPython_EXECUTABLE={}", self.python.executable.display()));
        run::output(&mut configure).with_context(|| format!("cmake does not configure {}", self.name))?;
        run::output(self.tools.command("cmake").arg("--build").arg(&build)).map(drop)
    }

    /// The rows that a program prints are those of `generated/facts`.
    fn check(&self, program: &Path) -> Result<()> {
        let mut check = Command::new(&self.python.executable);
        check.arg(self.source().join("check.py")).arg(program).env("LD_LIBRARY_PATH", self.kit.lib());
        run::output(&mut check).map(drop)
    }

    fn by_cmake(&self) -> Result<()> {
        let step = Step::start("Tables in C, by CMake, static and shared");
        self.cmake(&[])?;
        self.check(&self.build().join("with_static"))?;
        self.check(&self.build().join("with_shared"))?;
        step.done("");
        Ok(())
    }

    fn by_pkg_config(&self) -> Result<()> {
        let step = Step::start("Tables in C, by pkg-config, static, shared and with sanitisers");
        let packages = self.kit.lib().join("pkgconfig");
        let ask = |options: &[&str]| -> Result<Vec<String>> {
            let mut command = Command::new("pkg-config");
            command.env("PKG_CONFIG_PATH", &packages).args(options).arg("slotrt-tables");
            Ok(run::output(&mut command)?.split_whitespace().map(str::to_owned).collect())
        };
        let source = self.source().join("tables.c");
        let builds: [(&str, &[&str]); 3] = [
            ("shared", &[]),
            ("static", &["-static"]),
            ("sanitised", &["-static-libasan", "-fsanitize=address,undefined"]),
        ];
        for (name, options) in builds {
            let program = self.build().join(name);
            let mut compile = Command::new("cc");
            compile.args(["-Wall", "-Wextra", "-Werror", "-O1"]).args(options).arg(&source).arg("-o").arg(&program);
            run::output(compile.args(ask(&["--cflags", "--libs", "--static"])?))?;
            self.check(&program)?;
        }
        step.done("");
        Ok(())
    }

    fn embedded(&self) -> Result<()> {
        let step = Step::start("A C++ program that embeds Python, static and shared");
        self.cmake(&[])?;
        let libraries = std::env::join_paths([&self.python.library_dir, &self.kit.lib_for(&self.python.series())])?;
        for kind in ["static", "shared"] {
            let mut program = Command::new(self.build().join(format!("embed_{kind}")));
            program.env("LD_LIBRARY_PATH", &libraries).env_remove("PYTHONPATH");
            run::output(&mut program)?;
        }
        step.done("");
        Ok(())
    }

    fn beside_torch(&self) -> Result<()> {
        let step = Step::start("An extension module against libtorch, with a frame callback and a backend in C++");
        let place = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])";
        let root = run::output(Command::new(&self.python.executable).args(["-I", "-c", place]))?;
        self.cmake(&[format!("-DTORCH_ROOT={}", root.trim())])?;
        let mut check = Command::new(&self.python.executable);
        check.arg(self.source().join("check.py")).arg(self.build()).env("OMP_NUM_THREADS", "1");
        run::output(&mut check)?;
        step.done("");
        Ok(())
    }
}

/// A program that uses an installed wheel: nothing but the file is needed.
const USE: &str = "
import importlib.metadata, pathlib, slotrt
assert slotrt.compile(lambda a: a + 1)(2) == 3
folder = pathlib.Path(slotrt.__file__).parent
assert (folder / 'py.typed').exists() and (folder / '__init__.pyi').exists()
files = [str(file) for file in importlib.metadata.files('slotrt')]
for wanted in ('LICENSE-MIT', 'LICENSE-APACHE', 'LICENSE-PSF', '.cdx.json'):
    assert any(file.endswith(wanted) for file in files), (wanted, files)
";

fn wheel(python: &Interpreter, out: &Path) -> Result<()> {
    let step = Step::start("The wheel, in an empty environment");
    let room = place::target().join("link").join("environment");
    if room.exists() {
        std::fs::remove_dir_all(&room)?;
    }
    run::output(Command::new(&python.executable).args(["-m", "venv"]).arg(&room))?;
    let inside = room.join("bin").join("python");
    let entries = std::fs::read_dir(out.join("wheels"))?;
    let wheels = entries.flatten().map(|entry| entry.path());
    run::output(Command::new(&inside).args(["-m", "pip", "install", "--quiet", "--no-index"]).args(wheels))?;
    run::output(Command::new(&inside).args(["-I", "-c", USE]))?;
    step.done("");
    Ok(())
}
