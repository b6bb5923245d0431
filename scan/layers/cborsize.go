package layers

import "encoding/binary"

// Bounds of encoded facts: what they take in memory is far more than their
// bytes where these are empty maps or lists.
const (
	maxEncodedMaps  = 1 << 18
	maxEncodedItems = 1 << 22
)

// decodedSize says whether CBOR that comes from outside stays within the
// bounds once it is decoded. It does not say whether it is well-formed.
func decodedSize(b []byte) bool {
	maps, items := 0, 0
	for len(b) > 0 {
		major, info := b[0]>>5, b[0]&31
		b = b[1:]
		n := uint64(info)
		if info >= 24 {
			size := 1 << (info - 24)
			if info > 27 || len(b) < size {
				return false // of no length, or cut off
			}
			var buf [8]byte
			copy(buf[8-size:], b[:size])
			n, b = binary.BigEndian.Uint64(buf[:]), b[size:]
		}
		items++
		switch major {
		case 2, 3: // bytes and text
			if n > uint64(len(b)) {
				return false
			}
			b = b[n:]
		case 5:
			maps++
		}
		if maps > maxEncodedMaps || items > maxEncodedItems {
			return false
		}
	}
	return true
}
