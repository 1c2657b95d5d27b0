package directory

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// Client returns the application that is the OAuth client with the id. Callers must not
// change it. For an unknown client the error is application_not_found, Class NotFound.
//
// The cache saves reading the columns of an unchanged application. Each call still checks
// that the application has not changed, so a change on another instance takes effect at
// once.
func (d *Directory) Client(ctx context.Context, clientID string) (*schemas.Application, error) {
	id, updated, err := d.store.ClientRevision(ctx, clientID)
	if err != nil {
		return nil, err
	}
	if known := d.clients.get(clientID); known != nil && known.ID == id && known.UpdatedAt.Equal(updated) {
		return known, nil
	}
	a, err := d.store.ApplicationByClientID(ctx, clientID)
	if err != nil {
		return nil, err
	}
	d.clients.put(clientID, a, maxClients)
	return a, nil
}
