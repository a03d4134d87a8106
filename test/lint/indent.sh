#!/bin/bash
#
# indent.sh
#	  Lay out the C files as pgindent does.
#
# Usage: test/lint/indent.sh [--check | --typedefs] [FILE ...]
#
# Rewrites the files in place; with --check prints the names of those that it
# would change.  It needs pg_bsd_indent (Debian: pg-bsd-indent); what the
# pgindent script does before and after it is in indent_filter.pl.  typedefs.list has the
# names of types, ours and the server's, that src uses; --typedefs makes it
# anew from the sources and the installed server's headers.
#
# test/lint/indent.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
typedefs=test/lint/typedefs.list
indent=${PG_BSD_INDENT:-pg_bsd_indent}
check=

# C files that people have written, not bison or flex.
c_files()
{
	local file

	find src test -name '*.[ch]' | sort | while read -r file
	do
		[ -e "${file%.c}.y" ] || [ -e "${file%.c}.l" ] || echo "$file"
	done
}

# Names of typedefs in the files given.
find_typedefs()
{
	perl -0777 -ne '
		s!/\*.*?\*/!!gs;
		s/^#.*(?:\\\n.*)*//gm;
		print "$1\n" while /^\}\s*(\w+)\s*;/gm;
		print "$1\n" while /^\s*typedef\s+(?:const\s+)?(?:struct\s+|union\s+|enum\s+)?\w[\w\s*]*?\b(\w+)(?:\[\w*\])?\s*;/gm;
		print "$1\n" while /^\s*typedef\s[^;{}]*?\(\s*\*?\s*(\w+)\)\s*\([^;]*;/gm;
		print "$1\n" while /^\s*typedef\s+(?:struct|union|enum)\s+(\w+)/gm;' "$@"
}

case ${1:-} in
	--check)
		check=1
		shift ;;
	--typedefs)
		include=$("${PG_CONFIG:-pg_config}" --includedir-server) || exit 1
		mapfile -t sources < <(c_files)
		mapfile -t headers < <(find "$include" -name '*.h')
		LC_ALL=C comm -12 \
			<({ printf '%s\n' bool FILE int8_t int16_t int32_t int64_t size_t ssize_t \
				uint8_t uint16_t uint32_t uint64_t va_list
				find_typedefs "${headers[@]}" "${sources[@]}"; } |
				grep -vxE 'FD_SET|LookupSet|boolean|date|duration|element_type|inquiry|iterator|other|pointer|reference|rep|string|timestamp|type|wrap' |
				LC_ALL=C sort -u) \
			<(cat "${sources[@]}" | perl -0777 -ne 's!/\*.*?\*/!!gs; s/\x27\\?"\x27//g; s/"(\\.|[^"\\])*"//g; print "$&\n" while /\b[A-Za-z_]\w*/g' |
				LC_ALL=C sort -u) > "$typedefs.new" && mv "$typedefs.new" "$typedefs"
		exit ;;
esac

command -v "$indent" > /dev/null || {
	echo "$indent is missing: install pg-bsd-indent"
	exit 77
}

[ $# -gt 0 ] || mapfile -t files < <(c_files)
[ $# = 0 ] || files=("$@")

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
grep -v '^#' "$typedefs" > "$work/typedefs"
changed=0
for file in "${files[@]}"
do
	perl test/lint/indent_filter.pl before < "$file" > "$work/in.c" &&
		(cd "$work" && "$indent" -bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 \
			-i4 -l79 -lp -lpl -nip -npro -sac -tpg -ts4 -Utypedefs in.c out.c > log 2>&1) &&
		perl test/lint/indent_filter.pl after < "$work/out.c" > "$work/new.c"
	if [ $? != 0 ] || [ -s "$work/log" ] || [ ! -s "$work/new.c" ]
	then
		echo "$file: $(head -n 1 "$work/log")"
		changed=2
		continue
	fi
	cmp -s "$file" "$work/new.c" && continue
	[ $changed = 2 ] || changed=1
	if [ -n "$check" ]
	then
		echo "$file:$(diff "$file" "$work/new.c" | sed -n '1s/[^0-9].*//p'): make indent would change this file"
	else
		cat "$work/new.c" > "$file"
		echo "indented $file"
	fi
done
[ -n "$check" ] || [ $changed = 2 ] || exit 0
exit $changed
