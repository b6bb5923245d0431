package binary

import "bytes"

// An RM version is three digits from 300 on, two or three digits, and
// optionally two more: 535.161.08, 470.57.02, 304.137. (NVIDIA's container
// toolkit globs libraries by this suffix.)

// ValidRM says whether s is an RM version and nothing else.
func ValidRM(s string) bool {
	n := rmLength([]byte(s))
	return n > 0 && n == len(s)
}

// rmLength is the length of the RM version at the start of b, 0 if there is
// none. Longest match: 535.161.08 is never taken for 535.161.
func rmLength(b []byte) int {
	digits := func(i, most int) int {
		n := 0
		for i+n < len(b) && n <= most && b[i+n] >= '0' && b[i+n] <= '9' {
			n++
		}
		return n
	}
	if digits(0, 3) != 3 || b[0] < '3' {
		return 0
	}
	if len(b) < 6 || b[3] != '.' {
		return 0
	}
	n := digits(4, 3)
	if n < 2 || n > 3 {
		return 0
	}
	end := 4 + n
	if end < len(b) && b[end] == '.' && digits(end+1, 2) == 2 {
		end += 3
	}
	return end
}

const profilePrefix = "nvidia-application-profiles-"

// rmScanner collects the RM versions of a file that comes in pieces. It looks
// at each '.', which is rare in binaries, so that the scan runs at memory
// speed.
type rmScanner struct {
	found []RMVersion
	// tail are the last bytes of the piece before, so that a string across two
	// pieces is seen.
	tail []byte
}

// margin is enough for the longest string that is looked for.
const margin = len(profilePrefix) + 16

// write scans the next piece.
func (s *rmScanner) write(p []byte) {
	if len(s.tail) > 0 {
		join := append(append([]byte(nil), s.tail...), p[:min(len(p), margin)]...)
		s.scan(join)
	}
	s.scan(p)
	if len(p) >= margin {
		s.tail = append(s.tail[:0], p[len(p)-margin:]...)
		return
	}
	s.tail = append(s.tail, p...)
	if n := len(s.tail) - margin; n > 0 {
		s.tail = append(s.tail[:0], s.tail[n:]...)
	}
}

func (s *rmScanner) scan(p []byte) {
	for i := 0; i < len(p); {
		j := bytes.IndexByte(p[i:], '.')
		if j < 0 {
			return
		}
		dot := i + j
		i = dot + 1
		start := dot - 3
		if start < 1 || p[start] < '3' || p[start] > '9' {
			continue
		}
		n := rmLength(p[start:])
		if n == 0 || start+n >= len(p) {
			continue
		}
		// Whole C strings only, or the name of a profile file: other text has
		// numbers of this shape that are no versions.
		switch {
		case p[start-1] == 0 && p[start+n] == 0:
			s.add(string(p[start:start+n]), false)
		case p[start+n] == '-' && bytes.HasSuffix(p[:start], []byte(profilePrefix)):
			s.add(string(p[start:start+n]), true)
		}
		i = start + n
	}
}

func (s *rmScanner) add(text string, profile bool) {
	for i := range s.found {
		if s.found[i].Text == text {
			s.found[i].Profile = s.found[i].Profile || profile
			return
		}
	}
	if len(s.found) < maxRMStrings {
		s.found = append(s.found, RMVersion{text, profile})
	}
}

// newer compares two RM versions number by number.
func newer(a, b string) bool {
	for a != "" || b != "" {
		var x, y int
		x, a = number(a)
		y, b = number(b)
		if x != y {
			return x > y
		}
	}
	return false
}

// number cuts the first number off a version; a missing one counts as -1.
func number(s string) (int, string) {
	if s == "" {
		return -1, ""
	}
	n, i := 0, 0
	for i < len(s) && s[i] != '.' {
		n = n*10 + int(s[i]-'0')
		i++
	}
	if i < len(s) {
		i++
	}
	return n, s[i:]
}
