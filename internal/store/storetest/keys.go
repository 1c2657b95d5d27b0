package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func testKeys(t *testing.T, s *store.Store) {
	const instances = 8
	ctx := t.Context()
	key := func(id, algorithm string, status schemas.KeyStatus) store.SigningKey {
		return store.SigningKey{ID: id, Algorithm: algorithm, Private: []byte{0, 0xff}, Status: status, CreatedAt: noon()}
	}
	var added atomic.Int32
	together(instances, func(i int) {
		err := s.AddSigningKey(ctx, key(fmt.Sprint("racer-", i), "ES256", schemas.KeySigning))
		if err == nil {
			added.Add(1)
		} else if !schemas.HasCode(err, "key_exists") {
			t.Errorf("%v, expected key_exists", err)
		}
	})
	wantEqual(t, "the number of keys that sign", int(added.Load()), 1)

	published := key("published", "ES256", schemas.KeyPublished)
	published.CreatedAt = noon().Add(time.Hour)
	must(t, s.AddSigningKey(ctx, published))
	must(t, s.AddSigningKey(ctx, key("rsa", "RS256", schemas.KeySigning)))
	keys, err := s.SigningKeys(ctx)
	must(t, err)
	wantEqual(t, "the number of keys", len(keys), 3)
	wantEqual(t, "the newest key", keys[2], published)
	wantEqual(t, "the private half", keys[0].Private, []byte{0, 0xff})
}
