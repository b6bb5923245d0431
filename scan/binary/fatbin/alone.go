package fatbin

import (
	"bytes"
	"strconv"
)

// HeadBytes is how much of a file is enough for [Alone] and [Text].
const HeadBytes = headBytes

// Alone is the code of a file that is a cubin, of which head are the first
// bytes: nil where it is none.
func Alone(head []byte) *Code {
	e, ok := parseCubin(head)
	if !ok {
		return nil
	}
	t, ok := tkinfo(head)
	t.target(&e)
	code := bareCode(e)
	if ok && t.release != "" {
		code.Toolkits = []string{t.release}
	}
	return code
}

func bareCode(e Entry) *Code {
	return &Code{Sets: []Set{{Place: Unplaced, Entries: []Entry{e}, Containers: 1, Bare: true}}}
}

// IsFatbin says whether a file that begins so is a container by itself.
func IsFatbin(head []byte) bool {
	_, ok := parseContainer(head, 1<<62)
	return ok
}

// Text is the code of a file of PTX, of which head are the first bytes: nil
// where it is none. PTX begins with .version and .target behind comments.
func Text(head []byte) *Code {
	e := Entry{Kind: PTX, Bits: 32}
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || bytes.HasPrefix(line, []byte("//")) {
			continue
		}
		word, rest, _ := bytes.Cut(line, []byte(" "))
		rest = bytes.TrimSpace(rest)
		switch {
		case string(word) == ".version" && e.Major == 0:
			major, minor, _ := bytes.Cut(rest, []byte("."))
			e.Major, e.Minor = number(major), number(minor)
		case string(word) == ".target" && e.Major > 0 && e.SM == 0:
			target, _, _ := bytes.Cut(rest, []byte(","))
			e.SM, e.Target = sm(target)
		case string(word) == ".address_size" && e.SM > 0:
			e.Bits = number(rest)
			return bareCode(e)
		case e.SM > 0:
			return bareCode(e)
		default:
			return nil
		}
	}
	if e.SM > 0 {
		return bareCode(e)
	}
	return nil
}

// sm reads sm_90a.
func sm(b []byte) (int, byte) {
	b, ok := bytes.CutPrefix(bytes.TrimSpace(b), []byte("sm_"))
	if !ok || len(b) == 0 {
		return 0, 0
	}
	var suffix byte
	if c := b[len(b)-1]; c == 'a' || c == 'f' {
		suffix, b = c, b[:len(b)-1]
	}
	return number(b), suffix
}

// number is that of up to four digits, else 0.
func number(b []byte) int {
	n, err := strconv.ParseUint(string(b), 10, 13)
	if err != nil {
		return 0
	}
	return int(n)
}
