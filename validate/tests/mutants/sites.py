"""Finds where a mechanical fault can be planted in a C file, and writes the file with faults planted in it.

No parser: clang-format's spacing tells a binary operator (spaces on both sides) from a unary one or a pointer, and the
precedence of operators tells where an operand ends. A guess that is wrong does not compile, and is dropped.
"""
import bisect
import hashlib
import re

KINDS = ("comparison", "off by one", "dropped term", "swapped operand", "operator", "constant", "table", "condition",
         "negated")

TOKEN = re.compile(r"""
      (?P<space>(?:[ \t\n\r\f]|\\\n|//[^\n]*|/\*.*?\*/)+)
    | (?P<directive>\#(?:[^\n\\]|\\.)*)
    | (?P<text>[LuU]?"(?:[^"\\\n]|\\.)*"|[LuU]?'(?:[^'\\\n]|\\.)*')
    | (?P<number>\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.])*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S)

BINARY = {"||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "<": 9, ">": 9, "<=": 9, ">=": 9, "<<": 10,
          ">>": 10, "+": 11, "-": 11, "*": 12, "/": 12, "%": 12}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
ENDS = {";", ",", "?", ":", "return", "case", "else", "do", "goto"} | ASSIGN
NEIGHBOUR = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
OPPOSITE = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/"}
SWAPPED = {"ceil": "floor", "floor": "ceil", "fmin": "fmax", "fmax": "fmin", "ps_min": "ps_max", "ps_max": "ps_min",
           "min": "max", "max": "min"}
# Called inside an expression these change nothing, so that it may be evaluated twice.
PURE = set(SWAPPED) | {"fabs", "sqrt", "pow", "exp", "log", "log2", "exp2", "round", "llround", "lround", "strcmp", "strlen",
                       "isnan", "isfinite", "defined", "sizeof", "round_up"}
# A fault in code that ends processes or removes files could hurt the machine it runs on.
DANGER = {"kill", "unlink", "rmdir", "remove", "rename", "nftw", "fork", "waitpid", "setpgid", "execv", "execvp", "pid"}


class Token:
    __slots__ = ("kind", "text", "at", "end", "gap", "mate")

    def __init__(self, kind, text, at, gap):
        self.kind, self.text, self.at, self.end, self.gap, self.mate = kind, text, at, at + len(text), gap, -1


class Site:
    """A piece [at, end) of a file's text, and what makes a fault of it. `number` is given when it is planted."""

    def __init__(self, path, kind, line, at, end, old, new, write):
        self.path, self.kind, self.line, self.at, self.end, self.old, self.new = path, kind, line, at, end, old, new
        self.write, self.id, self.number, self.function = write, "", -1, ""


def tokens_of(text):
    found, gap = [], False
    for m in TOKEN.finditer(text):
        if m.lastgroup == "space":
            gap = True
            continue
        found.append(Token(m.lastgroup, m.group(), m.start(), gap))
        gap = False
    stack = []
    for i, t in enumerate(found):
        if t.kind == "op" and t.text in OPEN:
            stack.append(i)
        elif t.kind == "op" and t.text in CLOSE and stack:
            t.mate = stack.pop()
            found[t.mate].mate = i
    return found


class File:
    def __init__(self, path, text):
        self.path, self.text, self.t, self.sites = path, text, tokens_of(text), []
        self.lines = [m.start() for m in re.finditer("\n", text)]
        self.seen = {}
        i = 0
        while i < len(self.t):
            i = self._top(i)

    # --- what stands outside functions --------------------------------------------------------------------------
    def _top(self, i):
        t = self.t[i]
        if t.kind == "directive":
            self._define(t)
        elif t.text == "{" and t.mate > 0:
            if self.t[i - 1].text == ")":
                self.function = self._name_before(i - 1)
                if not DANGER & {x.text for x in self.t[i:t.mate]}:
                    self._body(i + 1, t.mate)
            return t.mate + 1
        elif t.text == "static":
            return self._table(i, len(self.t)) or i + 1
        return i + 1

    def _name_before(self, close):
        at = self.t[close].mate
        return self.t[at - 1].text if at > 0 else ""

    def _define(self, t):
        """#define NAME 12: used in one file, so that it can be chosen at run time."""
        m = re.fullmatch(r"#define\s+([A-Z]\w*)\s+(-?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?[uUlLfF]*)\s*(?:/\*.*)?", t.text, re.S)
        if not m or not self.path.endswith(".c"):
            return
        at = t.at + m.start(2)
        new = more(m.group(2))
        if new:
            self.function = m.group(1)
            self._add("constant", at, at + len(m.group(2)), "%s %s" % m.group(1, 2), "%s %s" % (m.group(1), new),
                      lambda k, old=m.group(2): "(MUTANT(%d) ? %s : %s)" % (k, new, old))

    def _table(self, i, stop):
        """A static table or value: its twin stands behind it, and uses choose between the two."""
        j = i
        while j < stop and self.t[j].text not in ("=", ";", "{"):
            j = self.t[j].mate + 1 if self.t[j].text in ("[", "(") and self.t[j].mate > 0 else j + 1
        if j >= stop or self.t[j].text != "=" or "const" not in {x.text for x in self.t[i:j]}:
            return None
        names = [x for x in range(i, j) if self.t[x].kind == "name" and
                 (self.t[x + 1].text in ("[", "="))]
        end = j
        while end < stop and self.t[end].text != ";":
            end = self.t[end].mate + 1 if self.t[end].text in OPEN and self.t[end].mate > 0 else end + 1
        if names:
            self._table_sites(i, j, end, names[0], stop)
        return end + 1

    def _table_sites(self, i, j, end, name, stop):
        word, first = self.t[name].text, self.t[i].at
        uses = [x for x in range(end, len(self.t) if stop == len(self.t) else stop)
                if self.t[x].text == word and self.t[x].kind == "name" and self.t[x - 1].text not in (".", "->")]
        declared = [x for x in uses if self.t[x - 1].kind == "name" and self.t[x - 1].text not in
                    ("return", "sizeof", "case", "else", "in")]
        if not uses or declared:
            return
        before = self.text[first:self.t[name].at]
        for x in range(j + 1, end):
            t = self.t[x]
            new = more(t.text) if t.kind == "number" and self.t[x - 1].text != "[" else None
            if not new:
                continue
            after = self.text[self.t[name].end:t.at] + new + self.text[t.end:self.t[end].at]

            def write(k, after=after):
                # Both have one type only where the size of an array is the same: it is.
                return "; %s%s_mutant%d%s;" % (before, word, k, after)

            self.function = word
            site = self._add("table", self.t[end].at, self.t[end].end, "%s: %s" % (word, t.text),
                             "%s: %s" % (word, new), write, line_at=t.at)
            site.uses = [(self.t[u].at, self.t[u].end, word) for u in uses]

    # --- inside a function -----------------------------------------------------------------------------------------
    def _body(self, i, stop):
        while i < stop:
            t = self.t[i]
            if t.kind == "directive":
                pass
            elif t.text in ("static", "enum", "_Static_assert", "extern"):
                over = self._table(i, stop) if t.text == "static" else None
                if not over:
                    over = i
                    while over < stop and self.t[over].text != ";":
                        over = self.t[over].mate + 1 if self.t[over].text in OPEN and self.t[over].mate > 0 else over + 1
                i = over
            elif t.text == "case":
                while self.t[i].text != ":":
                    i += 1
            elif t.text == "sizeof" and self.t[i + 1].text == "(":
                i = self.t[i + 1].mate
            elif t.text == "[" and self._declares(i):
                i = t.mate
            else:
                self._sites_at(i)
            i += 1

    def _declares(self, i):
        """char buf[N], struct s *list[N]; and [N] = of an initialiser."""
        a, b = self.t[i - 1], self.t[i - 2]
        if a.kind != "name":
            return a.text in ("{", ",", "]") and self.t[self.t[i].mate + 1].text in ("=", "[", ".")
        return (b.kind == "name" and b.text not in ("return", "else", "case", "do")) or \
               (b.text == "*" and not self.t[i - 1].gap)

    def _sites_at(self, i):
        t, nxt = self.t[i], self.t[i + 1]
        if t.kind == "op" and t.text in BINARY and t.gap and nxt.gap:
            self._operator(i)
        elif t.kind == "op" and t.text == "+=" or t.text == "-=":
            self._sum(i)
        elif t.kind == "op" and t.text == "[" and t.mate > i + 1:
            self._index(i)
        elif t.kind == "number":
            new = more(t.text)
            if new:
                self._swap("constant", i, i, new, always=True)
        elif t.kind == "name" and t.text in SWAPPED and nxt.text == "(":
            at, end = t.at, self.t[nxt.mate].end
            rest = self.text[nxt.at:end]
            self._choose("operator", i, nxt.mate, SWAPPED[t.text] + rest, t.text, SWAPPED[t.text])
        elif t.kind == "name" and re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", t.text) and nxt.text not in ("(", "##") and \
                t.text not in ("NULL", "EOF", "FILE", "SIZE_MAX", "UINT64_MAX", "INT_MAX", "DBL_MAX", "INFINITY", "NAN") and \
                not t.text.startswith(("PRI", "SIG", "SQLITE_")) and self.t[i - 1].kind != "text" and nxt.kind != "text":
            self._choose("constant", i, i, "MUTANT_MORE(%s)" % t.text, t.text, t.text + " and a tenth, or 1, more", always=True)
        elif t.text == "if" and nxt.text == "(" and nxt.mate > 0:
            inner = self.text[nxt.end:self.t[nxt.mate].at]
            self._choose("negated", i + 2, nxt.mate - 1, "!(%s)" % inner, inner, "!(%s)" % inner, always=True)
        elif t.text == "?":
            left = self._left(i, 2)
            if left is not None and left < i:
                inner = self.text[self.t[left].at:self.t[i - 1].end]
                self._choose("negated", left, i - 1, "!(%s)" % inner, inner + " ?", "!(%s) ?" % inner, always=True)

    def _operator(self, i):
        op = self.t[i].text
        left, right = self._left(i, BINARY[op]), self._right(i, BINARY[op])
        if left is None or right is None or left >= i or right <= i:
            return
        a, b = self.text[self.t[left].at:self.t[i - 1].end], self.text[self.t[i + 1].at:self.t[right].end]

        def put(kind, new):
            self._choose(kind, left, right, new)

        if op in NEIGHBOUR:
            put("comparison", "%s %s %s" % (a, NEIGHBOUR[op], b))
        if op in ("<", "<=", ">", ">=") and b != "0":
            put("off by one", "%s %s (%s) + 1" % (a, op, b))
            put("off by one", "%s %s (%s) - 1" % (a, op, b))
        if op in ("<", "<=", ">", ">="):
            put("swapped operand", "%s %s %s" % (b, op, a))
        if op in ("+", "-", "*", "|"):
            put("dropped term", a)
        if op in ("+", "*", "|"):
            put("dropped term", b)
        if op in ("-", "/"):
            put("swapped operand", "(%s) %s (%s)" % (b, op, a))
        if op in OPPOSITE:
            put("operator", "(%s) %s (%s)" % (a, OPPOSITE[op], b))
        if op in ("&&", "||"):
            put("condition", a)
            put("condition", b)

    def _sum(self, i):
        """total += x; as a statement of its own."""
        left, right = self._left(i, 1), self._right(i, 1)
        if left is None or right is None or self.t[right + 1].text != ";" or \
                self.t[left - 1].text not in (";", "{", "}", ")"):
            return
        old = self.text[self.t[left].at:self.t[right].end]
        # What stands before may be "if (...)", which the way left has swallowed: no name of a call begins a sum.
        if self.t[left].text in ("if", "for", "while", "else", "return"):
            return
        self._add("dropped term", self.t[left].at, self.t[right].end, old, "nothing",
                  lambda k: "(MUTANT(%d) ? (void)0 : (void)(%s))" % (k, old))

    def _index(self, i):
        a, b = i + 1, self.t[i].mate - 1
        if self.t[i - 1].text in ("{", ",", "("):
            return
        inner = self.text[self.t[a].at:self.t[b].end]
        for sign in "+-":
            new = "(%s) %s 1" % (inner, sign)
            self._choose("off by one", a, b, new, "[%s]" % inner, "[%s]" % new, always=True)

    # --- helpers ---------------------------------------------------------------------------------------------------
    def _left(self, i, than):
        """The first token of the operand that ends before token i."""
        x = i - 1
        while x >= 0:
            t = self.t[x]
            if t.kind == "directive" or t.text == "}" and self.t[i].text != "}" or t.text in OPEN or t.text in ENDS:
                break
            if t.kind == "op" and t.text in BINARY and t.gap and self.t[x + 1].gap and BINARY[t.text] < than:
                break
            x = t.mate - 1 if t.text in CLOSE and t.mate >= 0 else x - 1
        return x + 1 if self.t[x + 1].text not in ("if", "while", "for", "switch") else None

    def _right(self, i, than):
        x = i + 1
        while x < len(self.t):
            t = self.t[x]
            if t.kind == "directive" or t.text in CLOSE or t.text in ENDS:
                break
            if t.kind == "op" and t.text in BINARY and t.gap and self.t[x + 1].gap and BINARY[t.text] <= than:
                break
            x = t.mate + 1 if t.text in OPEN and t.mate >= 0 else x + 1
        return x - 1

    def _swap(self, kind, a, b, new, always=False):
        self._choose(kind, a, b, new, always=always)

    def _pure(self, a, b):
        for x in range(a, b + 1):
            t = self.t[x]
            if t.text in ASSIGN or t.text in ("++", "--", "/", "%", "{"):
                return False
            if t.kind == "name" and self.t[x + 1].text == "(" and t.text not in PURE:
                return False
        return True

    def _choose(self, kind, a, b, new, old_said=None, new_said=None, always=False):
        old = self.text[self.t[a].at:self.t[b].end]
        if kind == "condition" and new != old and not old.startswith(new):
            sure = False  # the second condition alone may not be asked where the first does not hold
        else:
            sure = not always and self._pure(a, b) and "/" not in new
        head = "MUTANT_IF({0}, ({2}) != ({1}))" if sure else "MUTANT({0})"

        def write(k):
            return ("(" + head + " ? ({2}) : ({1}))").format(k, old, new)

        self._add(kind, self.t[a].at, self.t[b].end, old_said or old, new_said or new, write)

    def _add(self, kind, at, end, old, new, write, line_at=None):
        line = bisect.bisect_left(self.lines, at if line_at is None else line_at) + 1
        site = Site(self.path, kind, line, at, end, flat(old), flat(new), write)
        site.function, site.uses = self.function, []
        key = "|".join((self.path, self.function, kind, site.old, site.new))
        n = self.seen[key] = self.seen.get(key, 0) + 1
        site.id = hashlib.sha1(("%s|%d" % (key, n)).encode()).hexdigest()[:10]
        self.sites.append(site)
        return site


def flat(text):
    return re.sub(r"\s+", " ", text).strip()


def more(number):
    """The number and a tenth, or 1, more; None for what is no plain number."""
    m = re.fullmatch(r"(-?)([0-9]+)([uUlL]*)", number)
    if m:
        n = int(m.group(2))
        return "%s%d%s" % (m.group(1), n + max(1, n // 10), m.group(3)) if not m.group(2).startswith("0") or n == 0 else None
    m = re.fullmatch(r"-?[0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?", number)
    if m and float(number) != 0:
        return repr(float(number) * 1.1)
    return None


def planted(text, sites):
    """The file's text with the faults in it; its lines keep their numbers."""
    edits = []
    for s in sites:
        new = s.write(s.number)
        edits.append((s.at, s.end, new))
        for at, end, word in s.uses:
            edits.append((at, end, "(*(MUTANT(%d) ? &%s_mutant%d : &%s))" % (s.number, word, s.number, word)))
    out, last = [], 0
    for at, end, new in sorted(edits):
        out.append(text[last:at])
        # As many line ends as there were.
        out.append(flat_lines(new, text.count("\n", at, end)))
        last = end
    out.append(text[last:])
    return '#include "mutant.h"\n#line 1\n' + "".join(out)


def flat_lines(new, n):
    return re.sub(r"\s*\n\s*", " ", new) + "\n" * n
