"""Count what the floor plan of the package is held to: `python scripts/count_house.py [--check]`.

Lines, imports and types are read from the source with `ast`; what two small jobs load is counted in a process of its
own. Code is what is left of a module without blank lines, comments and docstrings.
"""

import argparse
import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "takifugu"
APART = ("paper", "studies")  # the evaluation, which no budget is for
MOST_PARAMETERS, MOST_OF_PUBLIC = 8, 14
# Of what the package itself offers: what it is about comes first, and objects of options are no arguments of their own.
MOST_SUBJECTS, OPTION_OBJECTS = 3, frozenset({"Adversary", "Utility", "Reading"})
# The packages, or modules, whose classes are told apart by those who own them and by nobody else.
FAMILIES = ("laws", "channels", "divergences", "problems.guarantee")
NAMESAKES = ("commands",)  # a command has the name of what it runs

CALIBRATE = "tk.calibrate({'a': tk.Mixture.gaussian(0, 1), 'b': tk.Mixture.gaussian(2, 1)}, alpha=3, epsilon=1)"
PUBLISH = """
import pandas as pd
table = pd.DataFrame({"secret": ["a", "b"] * 200, "value": [1, 2, 2, 3] * 100})
tk.publish(table, secret="secret", columns=["value"], odds=3)
"""


@dataclass(frozen=True)
class Module:
    """One file of the package; `name` starts with the name of the package."""

    name: str
    text: str = field(repr=False)
    is_package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> int:
        """All of its lines."""
        return len(self.text.splitlines())

    @cached_property
    def docstring_lines(self) -> frozenset[int]:
        """The numbers of the lines that docstrings take."""
        found: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0] if node.body else None
                if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                    found |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
        return frozenset(found)

    @cached_property
    def code_lines(self) -> int:
        """Lines that hold something that is neither a comment nor part of a docstring."""
        empty = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
        held: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in empty:
                held |= set(range(token.start[0], token.end[0] + 1))
        return len(held - self.docstring_lines)

    @property
    def package(self) -> str:
        """The package or module right below the root that it belongs to."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else ""

    def imported(self, known: frozenset[str]) -> frozenset[str]:
        """The modules of the package that it imports anywhere, in functions and for type checkers too."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names if alias.name in known}
            elif isinstance(node, ast.ImportFrom):
                home = self._absolute(node)
                for alias in node.names:
                    inner = f"{home}.{alias.name}"
                    found |= {inner} if inner in known else {home} & known
        return frozenset(found - {self.name})

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".") if self.is_package else self.name.split(".")[:-1]
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, *([node.module] if node.module else [])])

    @cached_property
    def anys(self) -> int:
        """How often `Any` is written, imports apart."""
        names = (node.id if isinstance(node, ast.Name) else node.attr for node in self._written())
        return sum(name == "Any" for name in names)

    def _written(self) -> Iterator[ast.Name | ast.Attribute]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name | ast.Attribute):
                yield node

    def long_signatures(self, public: frozenset[str]) -> list[str]:
        """Functions with more parameters than they may have; `self` and `cls` are none."""
        return [
            f"{self.name}.{name} ({count})"
            for name, node in self._functions()
            if (count := _parameters(node, is_public=(of := f"{self.name}.{name}") in public))
            > (MOST_OF_PUBLIC if of in public else MOST_PARAMETERS)
        ]

    def _functions(self) -> "Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]":
        """All functions with their names, those of classes behind the name of the class."""
        owners = {
            inner: node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef) for inner in node.body
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_overload(node):
                yield f"{owners[node]}.{node.name}" if node in owners else node.name, node

    def told_apart(self, kinds: dict[str, str]) -> int:
        """How often `isinstance` or a pattern asks for a class of which another package is the owner."""
        asked: list[ast.AST] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
                if node.func.id in ("isinstance", "issubclass"):
                    asked.append(node.args[1])
            elif isinstance(node, ast.MatchClass):
                asked.append(node.cls)
        return sum(any(self._names(one, kind, owner) for kind, owner in kinds.items()) for one in asked)

    def _names(self, node: ast.AST, kind: str, owner: str) -> bool:
        """Whether an expression names this class of another package: what is imported from elsewhere is no such."""
        if owner == self.package:
            return False
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and self._from_us.get(one.id) == (kind, owner):
                return True
            if isinstance(one, ast.Attribute) and one.attr == kind:
                base = next(inner for inner in ast.walk(one) if isinstance(inner, ast.Name))
                return base.id in self._from_us or base.id == self.name.split(".")[0]
        return False

    @cached_property
    def _from_us(self) -> dict[str, tuple[str, str]]:
        """The names that it imports from the package: what they are called there, and by whose front."""
        found: dict[str, tuple[str, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                home = self._absolute(node).split(".")
                if home[0] == self.name.split(".")[0]:
                    for alias in node.names:
                        found[alias.asname or alias.name] = (alias.name, home[1] if len(home) > 1 else alias.name)
        return found

    def classes(self) -> list[str]:
        """The public classes that it defines, errors apart."""
        return [
            node.name
            for node in self.tree.body
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not node.name.endswith("Error")
        ]


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, *, is_public: bool) -> int:
    """How many parameters a function has, but for `self`; of a public one those that are named, beside its objects."""
    given = node.args
    first = [*given.posonlyargs, *given.args]
    first = first[first[:1] != [] and first[0].arg in ("self", "cls") :]
    rest = [*given.kwonlyargs, *(one for one in (given.vararg, given.kwarg) if one is not None)]
    if not is_public:
        return len(first) + len(rest)
    rest = [one for one in rest if one.annotation is None or not _named(one.annotation) & OPTION_OBJECTS]
    return max(0, len(first) - MOST_SUBJECTS) + len(rest)


def _is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("overload" in _named(one) for one in node.decorator_list)


def _named(node: ast.AST) -> set[str]:
    inner = list(ast.walk(node))
    return {one.id for one in inner if isinstance(one, ast.Name)} | {
        one.attr for one in inner if isinstance(one, ast.Attribute)
    }


@dataclass(frozen=True)
class House:
    """All modules of a package."""

    modules: tuple[Module, ...]
    front: str = ""  # the stub that lists what the package itself offers, where it has one

    @classmethod
    def read(cls, source: Path) -> "House":
        """Those in this folder and below."""
        found = []
        for path in sorted(source.rglob("*.py")):
            parts = [source.name, *path.relative_to(source).with_suffix("").parts]
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            found.append(Module(name, path.read_text(encoding="utf-8"), is_package))
        stub = source / "__init__.pyi"
        return cls(tuple(found), stub.read_text(encoding="utf-8") if stub.exists() else "")

    def without(self, *packages: str) -> "House":
        """The same without these packages."""
        return House(tuple(one for one in self.modules if one.package not in packages), self.front)

    @cached_property
    def lines(self) -> int:
        """All lines."""
        return sum(one.lines for one in self.modules)

    @cached_property
    def code_lines(self) -> int:
        """Lines of code."""
        return sum(one.code_lines for one in self.modules)

    @property
    def docstring_share(self) -> float:
        """Lines of docstrings for each line of code."""
        return sum(len(one.docstring_lines) for one in self.modules) / self.code_lines

    @cached_property
    def edges(self) -> frozenset[tuple[str, str]]:
        """Which module imports which."""
        known = frozenset(one.name for one in self.modules)
        return frozenset((one.name, other) for one in self.modules for other in one.imported(known))

    @property
    def anys(self) -> int:
        """How often `Any` is written."""
        return sum(one.anys for one in self.modules)

    @property
    def public(self) -> frozenset[str]:
        """Functions that the package itself offers, and how its classes are made, by the modules that define them."""
        root = next((one for one in self.modules if "." not in one.name), None)
        if root is None:
            return frozenset()
        offered = {
            alias.asname or alias.name
            for tree in (root.tree, ast.parse(self.front))
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        return frozenset(
            f"{one.name}.{node.name}" + ".__init__" * isinstance(node, ast.ClassDef)
            for one in self.modules
            for node in one.tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in offered
        )

    @property
    def long_signatures(self) -> list[str]:
        """Functions with too many parameters."""
        public = self.public
        return [name for one in self.modules for name in one.long_signatures(public)]

    @property
    def told_apart(self) -> Counter[str]:
        """Where classes of the core are told apart outside the package that owns them, and how often."""
        kinds = {}
        for one in self.modules:
            inner = one.name.partition(".")[2]
            if any(f"{inner}.".startswith(f"{family}.") for family in FAMILIES):
                kinds |= dict.fromkeys(one.classes(), one.package)
        return Counter({one.name: count for one in self.modules if (count := one.told_apart(kinds))})

    @property
    def twins(self) -> dict[str, list[str]]:
        """Names that several modules have, and which."""
        found: dict[str, list[str]] = {}
        for one in self.modules:
            if not one.is_package and one.package not in NAMESAKES:
                found.setdefault(one.name.rpartition(".")[2], []).append(one.name)
        return {name: modules for name, modules in found.items() if len(modules) > 1}


def loaded(job: str, package: str = "takifugu") -> int:
    """How many modules of the package a small job loads, in a process of its own."""
    script = f"import sys, warnings\nwarnings.simplefilter('ignore')\nimport {package} as tk\n{job}\n"
    script += f"print(sum(name.split('.')[0] == {package!r} for name in sys.modules))\n"
    path = str(SOURCE.parent) if package == "takifugu" else "."
    script = f"import sys\nsys.path.insert(0, {path!r})\n{script}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    return int(done.stdout.split()[-1])


@dataclass(frozen=True)
class Figure:
    """What was counted, and what it may be."""

    name: str
    value: float
    most: float | None = None
    least: float | None = None

    @property
    def is_kept(self) -> bool:
        """Whether it is within its budget."""
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    def __str__(self) -> str:
        """A line of the table."""
        budget, otherwise = ("", "") if self.most is None else (f"at most {self.most:,}", "over")
        if self.least is not None:
            budget, otherwise = f"at least {self.least:,}", "under"
        shown = f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:,.2f}"
        return f"{self.name:<58}{shown:>10}   {budget:<17}{'' if self.is_kept else otherwise}"


def figures(house: House) -> list[Figure]:
    """All that is counted from the source; rates are of the package without what stands apart."""
    core = house.without(*APART)
    thousand = core.code_lines / 1000
    rest = house.without("paper")
    return [
        Figure("modules, without paper", len(rest.modules), most=200),
        Figure("modules, without paper and studies", len(core.modules)),
        Figure("lines, without paper", rest.lines, most=42_000),
        Figure("lines, without paper and studies", core.lines),
        Figure("lines of code", core.code_lines),
        Figure("import edges per 1,000 lines of code", len(core.edges) / thousand, most=35),
        Figure("Any per 1,000 lines of code", core.anys / thousand, most=12),
        Figure("docstring lines for a line of code", core.docstring_share, least=0.25),
        Figure(
            f"functions of more than {MOST_PARAMETERS} parameters, {MOST_OF_PUBLIC} if public",
            len(core.long_signatures),
            most=0,
        ),
        Figure("isinstance of core classes outside their package", core.told_apart.total(), most=0),
        Figure("  modules with such", len(core.told_apart)),
        Figure("names of modules that several have", len(core.twins), most=0),
    ]


def main() -> int:
    """Print the table; with --check the status is 1 where a budget is not kept."""
    parser = argparse.ArgumentParser(description="Count what the floor plan is held to.")
    parser.add_argument("--check", action="store_true", help="exit 1 where a figure is not within its budget")
    parser.add_argument("--where", action="store_true", help="say which functions, modules and names are meant")
    arguments = parser.parse_args()
    house = House.read(SOURCE)
    table = [
        *figures(house),
        Figure("modules loaded to calibrate two Gaussians", loaded(CALIBRATE), most=60),
        Figure("modules loaded to publish a small table", loaded(PUBLISH), most=140),
    ]
    print("\n".join(str(figure).rstrip() for figure in table))
    if arguments.where:
        core = house.without(*APART)
        print("\nMany parameters:", *sorted(core.long_signatures), sep="\n  ")
        print("\nTold apart:", *(f"{name} ({count})" for name, count in core.told_apart.most_common()), sep="\n  ")
        print("\nTwins:", *(f"{name}: {', '.join(modules)}" for name, modules in core.twins.items()), sep="\n  ")
    return int(arguments.check and not all(figure.is_kept for figure in table))


if __name__ == "__main__":
    sys.exit(main())
