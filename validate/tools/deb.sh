#!/bin/sh
# deb.sh OUT VERSION - Debian's source package and the packages made of it, in OUT: built in a copy of what git tracks, so that nothing
# that lies in the tree besides can get in, and looked at when they are done.
set -eu

[ $# = 2 ] || { echo "usage: deb.sh OUT VERSION" >&2; exit 2; }
out=$1 version=$2
top=npusim-$version

case $(dpkg-parsechangelog -S Version) in
"$version"-*) ;;
*) echo "deb.sh: debian/changelog has $(dpkg-parsechangelog -S Version), sim/base/version.h $version" >&2; exit 1 ;;
esac
rm -rf "$out" && mkdir -p "$out/$top"
git ls-files -z | xargs -0 cp --parents -Pp -t "$out/$top"
(cd "$out" && tar --sort=name --exclude="$top/debian" --owner=0 --group=0 --numeric-owner -cJf "npusim_$version.orig.tar.xz" "$top")
cores=$(nproc 2>/dev/null || echo 2)
(cd "$out/$top" && DEB_BUILD_OPTIONS="nocheck parallel=$cores" dpkg-buildpackage -us -uc) >"$out/log" 2>&1 ||
	{ tail -n 40 "$out/log" >&2; echo "deb.sh: dpkg-buildpackage failed; all of it is in $out/log" >&2; exit 1; }
rm -rf "${out:?}/$top"

# Unpacked as they would be installed, away from the tree, they answer.
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
for p in "$out"/*.deb; do dpkg-deb -x "$p" "$root"; done
us=$(cd / && "$root/usr/bin/npusim" run -c edge -m qwen3-0.6b --layers 1 --format json | sed -n 's/^  "total_us": \(.*\),$/\1/p')
[ -n "$us" ] || { echo "deb.sh: the packaged program answers nothing" >&2; exit 1; }
if command -v python3 >/dev/null 2>&1; then
	lib=$(dirname "$(find "$root/usr/lib" -name libnpusim.so.0)")
	said=$(cd / && env -u NPUSIM_LIBRARY LD_LIBRARY_PATH="$lib" PYTHONPATH="$root/usr/lib/python3/dist-packages" python3 -c \
		"import npusim; print(f\"{npusim.Simulator('$root/usr/share/npusim').machine('edge').run(model='qwen3-0.6b', layers=1).total_us:.9g}\")")
	[ "$said" = "$us" ] || { echo "deb.sh: the packaged Python says '$said', the program $us" >&2; exit 1; }
fi
(cd "$out" && ls -1 ./*.deb ./*.dsc)
