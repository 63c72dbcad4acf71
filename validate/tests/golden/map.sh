# The map at the head of sim/main.c names every source file; what is missing there is listed here.
sed -n '1,/\*\//p' sim/main.c >"$TMP/map"
for f in sim/*.[ch] arch/*.[ch] workloads/*.[ch] traces/*.[ch] results/*.[ch]; do
	name=$(basename "$f")
	name=${name%.*}
	grep -qE "(^|[ /(,;])$name([ ,:();./]|\$)" "$TMP/map" && continue
	# "sim/map/map ... (_tile, _math)": a part beside its module.
	case $name in
	*_*) grep -qE "[ (,;]_${name##*_}([ ,:;)]|\$)" "$TMP/map" && grep -qE "[ /]${name%_*}([ ,]|\$)" "$TMP/map" && continue ;;
	esac
	echo "$f is not in the map of sim/main.c"
done
echo "map checked"
