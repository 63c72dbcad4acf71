#!/usr/bin/env python3
"""stale.py NPUSIM [--all | --sample SEED] [--list] [NAME]... - is what was derived from the program still what it says?

Some files are made by one command each, on purpose and in commits of their own: configs/accuracy and the tables of
validate/ACCURACY.md (make accuracy), the verdicts of validate/CLAIMS.md and the pages of results/studies (make studies).
This compares them with what the same commands say now, and prints a line each:

  current    no figure differs by more than its tolerance, and no verdict
  stale      one does: run the command
  unchecked  a published table that the command reads is not here

A figure differs where it is off by more than 0.5 % and by more than one in its last digit. Stale is no failure: the exit
status is 1 only where a command fails. --sample checks a few that SEED chooses among the quick ones, in about half a CPU
minute; --all checks everything; NAMEs (see --list) check those.
"""
import os
import re
import subprocess
import sys
import tempfile

TOLERANCE = 0.005
PAGE, CLAIMS, STUDIES = 'validate/ACCURACY.md', 'validate/CLAIMS.md', 'results/studies'
PARTS = 'classes public engines profiles worst energy described steps published npus silicon serving'.split()
# A few CPU seconds each at the most.
QUICK = ['claims report-tables', 'claims l4-attention', 'claims h100-attention', 'claims ask-kernels', 'claims ask-review',
         'claims ask-h100', 'claims ask-l4', 'tables energy', 'tables described']
NUMBER = re.compile(r'[-+]?\d[\d,]*(?:\.\d+)?')


class Broken(Exception):
    pass


def number(text):
    return float(text.replace(',', ''))


def digit(text):
    """One in the last digit that is shown."""
    return 10.0 ** -len(text.split('.')[1]) if '.' in text else 1.0


def same_number(was, now):
    off = abs(number(now) - number(was))
    return off <= max(TOLERANCE * abs(number(was)), 1.01 * digit(was))


def difference(was, now):
    """None, or the first place where two texts differ by more than a digit."""
    if NUMBER.sub('#', was) != NUMBER.sub('#', now):
        for a, b in zip(was.splitlines(), now.splitlines()):
            if NUMBER.sub('#', a) != NUMBER.sub('#', b):
                return "'%s' is now '%s'" % (a.strip()[:90], b.strip()[:90])
        return 'there are other lines'
    for a, b in zip(NUMBER.finditer(was), NUMBER.finditer(now)):
        if not same_number(a.group(), b.group()):
            near = was[max(0, a.start() - 40):a.start()].replace('\n', ' ').strip()
            return '%s is now %s, behind "%s"' % (a.group(), b.group(), near)
    return None


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


class Checker:
    def __init__(self, npusim, work):
        self.npusim, self.work = os.path.abspath(npusim), work

    def at(self, name):
        return os.path.join(self.work, name)

    def run(self, command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Broken('%s: exit %d: %s' % (' '.join(command[:6]), done.returncode, done.stderr.strip()[-200:]))
        return done

    def databases(self):
        """What accuracy.sh reads: the committed measurements of operators and of the sweep, imported."""
        for name in ('operators', 'sweep'):
            folder = 'traces/h200/' + name
            files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith('.json.gz'))
            if not os.path.exists(self.at(name + '.db')):
                self.run([self.npusim, 'trace', 'import'] + files + ['-o', self.at(name + '.db')])

    def accuracy(self, _):
        """Whose fingerprint is still the model's is right without a measurement."""
        said = self.run([self.npusim, 'run', '-c', 'h200', '-m', 'llama-3.2-1b', '--fidelity', 'analytic', '--all', '--ops', '0'])
        if 'found with another build' not in said.stdout:
            return 'current', 'the model has the same fingerprint'
        self.databases()
        new = self.at('h200.yaml')
        self.run([self.npusim, 'validate', '-c', 'configs/gpu/h200.yaml', '-t', self.at('operators.db'), '-t', self.at('sweep.db'),
                  '--split', 'held-out', '--worst', '0', '-o', new])
        bare = [re.sub(r'^(build|model|digest): .*$', '', read(f), flags=re.M) for f in ('configs/accuracy/h200.yaml', new)]
        off = difference(*bare)
        return ('stale', off) if off else ('stale', 'its fingerprint alone: no figure differs')

    def totals(self, _):
        now = self.run(['sh', 'validate/tools/totals.sh', self.npusim, self.work]).stdout
        off = difference(read('configs/accuracy/totals.csv'), now)
        return ('stale', off) if off else ('current', '')

    def tables(self, part):
        """Rows are found in the page by what is no number in them."""
        self.databases()
        done = self.run(['sh', 'validate/tools/accuracy.sh', self.npusim, self.work, part])
        page = {}
        for line in read(PAGE).splitlines():
            if line.startswith('|'):
                page.setdefault(self.key(line), []).append(line)
        count = 0
        for line in done.stdout.splitlines():
            if not line.startswith('|'):
                continue
            count += 1
            olds = page.get(self.key(line))
            if not olds:
                return 'stale', 'no such row: ' + line[:100]
            if all(difference(old, line) for old in olds):
                return 'stale', difference(olds[0], line) + ' in ' + line[:60]
        if 'not run:' in done.stderr:
            return 'unchecked', done.stderr.strip().splitlines()[0]
        return 'current', '%d rows' % count

    @staticmethod
    def key(line):
        cells = [c.strip() for c in line.strip('|').split('|')]
        return tuple(c for c in cells if not re.fullmatch(r'[-+]?[\d.,]+( %)?( \(.*\))?|-|', c))

    @staticmethod
    def verdicts(text):
        rows = {}
        for line in text.splitlines():
            cells = [c.strip() for c in re.split(r'(?<!\\)\|', line)[1:-1]]
            if len(cells) == 6 and cells[0].isdigit():
                rows[cells[1], cells[2]] = cells[3]
        return rows

    def claims(self, study):
        page, words = self.at(study + '.html'), self.at(study + '.md')
        said = subprocess.run([self.npusim, 'study', 'configs/studies/%s.yaml' % study, '--page', page, '--markdown', words],
                              capture_output=True, text=True)
        if said.returncode != 0:
            if 'answer' in said.stderr:
                return 'stale', said.stderr.strip()[-160:]
            raise Broken('study %s: exit %d: %s' % (study, said.returncode, said.stderr.strip()[-200:]))
        now = self.verdicts(read(words)) if os.path.exists(words) else {}
        was = self.verdicts(read(CLAIMS))
        for key, verdict in now.items():
            if was.get(key) != verdict:
                return 'stale', "'%s' was %s and is %s" % (key[1][:60], was.get(key, 'not there'), verdict)
        bare = [re.sub(r'<[^>]*>', '\n', read(f)) for f in (os.path.join(STUDIES, study + '.html'), page)]
        off = difference(*bare)
        return ('stale', off) if off else ('current', '%d verdicts and the page' % len(now))


def everything():
    studies = [f[:-5] for f in sorted(os.listdir(STUDIES)) if f.endswith('.html')]
    return ['accuracy h200', 'accuracy totals'] + ['tables ' + p for p in PARTS] + ['claims ' + s for s in studies]


def check(checker, name):
    kind, what = name.split(' ', 1)
    how = {'accuracy h200': checker.accuracy, 'accuracy totals': checker.totals}.get(name) or getattr(checker, kind)
    try:
        state, why = how(what)
    except (Broken, OSError) as e:
        state, why = 'broken', str(e)
    print('%-10s %s%s' % (state, name, ': ' + why if why else ''), flush=True)
    return state


def chosen(argv):
    if '--all' in argv:
        return everything()
    if '--sample' in argv:
        seed = int(argv[argv.index('--sample') + 1])
        return ['accuracy h200'] + [QUICK[(seed * 3 + i) % len(QUICK)] for i in range(3)]
    return argv


def main(argv):
    if len(argv) > 1 and '--list' in argv:
        print('\n'.join(everything()))
        return 0
    names = chosen(argv[2:])
    if len(argv) < 3 or any(n not in everything() for n in names):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as work:
        states = [check(Checker(argv[1], work), name) for name in names]
    print('%d current, %d stale, %d unchecked, %d broken' % tuple(states.count(s) for s in ('current', 'stale', 'unchecked', 'broken')))
    return 1 if 'broken' in states else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
