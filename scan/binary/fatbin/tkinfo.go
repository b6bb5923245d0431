package fatbin

import (
	"bytes"
	"encoding/binary"
	"regexp"
)

// tool is what a cubin says of the program that made it, in its note
// .note.nv.tkinfo. Toolkits before 13.0 write it for their newest
// GPUs at most.
type tool struct {
	// release is that of the toolkit, such as 13.0.
	release string
	// options are those of ptxas: "-arch sm_100a -m 64".
	options string
}

var release = regexp.MustCompile(`release (\d+\.\d+)\b`)

// tkinfo finds the note in the first bytes of a cubin.
func tkinfo(head []byte) (tool, bool) {
	const owner, noteType = "NVIDIA Corp\x00", 0x7d0
	for at := 0; ; {
		i := bytes.Index(head[at:], []byte(owner))
		if i < 0 {
			return tool{}, false
		}
		at += i
		desc := head[at+len(owner):]
		if at >= 12 && binary.LittleEndian.Uint32(head[at-4:]) == noteType && binary.LittleEndian.Uint32(head[at-12:]) == uint32(len(owner)) {
			if n := binary.LittleEndian.Uint32(head[at-8:]); uint64(n) <= uint64(len(desc)) && n >= 24 {
				return toolOf(desc[:n])
			}
			return tool{}, false
		}
		at += len(owner)
	}
}

// toolOf reads the note: a version, the places of five strings, the strings.
func toolOf(desc []byte) (tool, bool) {
	const texts = 24
	text := func(i int) string {
		at := binary.LittleEndian.Uint32(desc[4*i:])
		if uint64(at) >= uint64(len(desc)-texts) {
			return ""
		}
		s, _, _ := bytes.Cut(desc[texts+int(at):], []byte{0})
		return string(s[:min(len(s), maxSample)])
	}
	t := tool{options: text(5)}
	if m := release.FindStringSubmatch(text(3)); m != nil {
		t.release = m[1]
	}
	return t, true
}

var archOption = regexp.MustCompile(`(?:^| )-arch[= ]sm_(\d+)([af]?)(?: |$)`)

// target completes the entry of a cubin by the options that made it: the header
// of the new ABI does not tell sm_100a and sm_100f from sm_100.
func (t tool) target(e *Entry) {
	if m := archOption.FindStringSubmatch(t.options); m != nil && number([]byte(m[1])) == e.SM && m[2] != "" {
		e.Target = m[2][0]
	}
}
