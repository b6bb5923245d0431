package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxRefs bounds --refs-file: more are a mistake.
const maxRefs = 10_000

// refs are the references of the arguments and of --refs-file.
func (o *imageOptions) refs(args []string, in io.Reader) ([]string, error) {
	if o.refsFile == "" {
		return args, nil
	}
	if o.refsFile != "-" {
		f, err := os.Open(o.refsFile)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--refs-file: %w", err), "name a file with one reference a line"}
		}
		defer func() { _ = f.Close() }() // read only
		in = f
	}
	refs := args
	sc := bufio.NewScanner(in)
	for n := 1; sc.Scan(); n++ {
		line, _, _ := strings.Cut(sc.Text(), "#")
		switch line = strings.TrimSpace(line); {
		case line == "":
			continue
		case len(strings.Fields(line)) > 1:
			return nil, usagef("--refs-file %s: line %d: more than one reference", o.refsFile, n)
		case len(refs) >= maxRefs:
			return nil, usagef("--refs-file %s: more than %d references", o.refsFile, maxRefs)
		}
		refs = append(refs, line)
	}
	if err := sc.Err(); err != nil {
		return nil, usagef("--refs-file %s: %w", o.refsFile, err)
	}
	return refs, nil
}
