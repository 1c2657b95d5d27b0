#!/bin/sh
# Runs `go build -v …`, with the package as the last argument, and shows the number of compiled packages instead
# of their names: on a terminal in one line, elsewhere in a line for every hundred.
for package; do :; done
total=$("$1" list -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$package" | wc -l)
if [ -t 2 ]; then every=1 start='\r' end='\033[K'; else every=100 start='' end='\n'; fi

{ "$@" 2>&1; echo " exit $?"; } | {
  n=0
  while IFS= read -r line; do
    case $line in
    " exit "*) code=${line# exit } ;;
    *[!A-Za-z0-9._/~-]*) printf "$start%s\n" "$line" >&2 ;; # what the compiler reports
    *)
      n=$((n + 1))
      if [ $((n % every)) -eq 0 ]; then printf "${start}compiled $n of $total packages$end" >&2; fi
      if [ "$n" -eq $((total - 1)) ]; then printf "${start}linking the program$end" >&2; fi
      ;;
    esac
  done
  [ "$end" = '\n' ] || printf "$start$end" >&2
  exit "$code"
}
