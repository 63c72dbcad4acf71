# Completion in a real fish.
# figures: shown
. validate/tests/golden/common
command -v fish >/dev/null || { echo "not run: fish is not installed"; exit; }
HOME=$TMP XDG_CONFIG_HOME=$TMP XDG_DATA_HOME=$TMP
export HOME XDG_CONFIG_HOME XDG_DATA_HOME
mkdir "$TMP/bin" "$TMP/files"
ln -s "$NPUSIM" "$TMP/bin/npusim"
touch "$TMP/files/a.db" "$TMP/files/b.yaml" "$TMP/files/c.txt"
cd "$TMP/files" || exit
PATH=$TMP/bin:$PATH
for line in 'npusim pa' 'npusim trace cl' 'npusim run --form' 'npusim run --format j' 'npusim run --set l2.poli' 'npusim run --set l2.policy=k' \
	'npusim run -t ' 'npusim run -c b'; do
	echo "--- $line|"
	fish -c "npusim completion fish | source; complete -C '$line'" | sed 's/	.*//'
done
