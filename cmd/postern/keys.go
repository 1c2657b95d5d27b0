package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

type keysCommands struct {
	List   keysListCommand   `cmd:"" help:"List the keys that sign tokens."`
	Rotate keysRotateCommand `cmd:"" help:"Publish the next signing keys."`

	ReEncrypt keysReencryptCommand `cmd:"" name:"re-encrypt" help:"Change the key-encryption key: re-encrypt everything that older keys have encrypted."`
}

type keysListCommand struct {
	Config string `type:"path" help:"The configuration file of the local server."`
}

// Run lists the keys.
func (c keysListCommand) Run(ctx context.Context, p program) error {
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	return listKeys(p.stdout, h.tokens)
}

type keysRotateCommand struct {
	Config string `type:"path" help:"The configuration file of the local server."`
	Now    bool   `help:"Sign with the new keys at once. Clients that cache the published keys reject the new signatures for a while."`
}

// Run publishes the next keys. They sign when they have been published for
// token.key_publish and a server is running.
func (c keysRotateCommand) Run(ctx context.Context, p program) error {
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.tokens.Rotate(ctx, c.Now, schemas.Event{}); err != nil {
		return err
	}
	return listKeys(p.stdout, h.tokens)
}

// listKeys writes one line for each key.
func listKeys(w io.Writer, tokens *token.Issuer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tALGORITHM\tSTATUS\tPUBLISHED\tSIGNS\tKEPT")
	for _, k := range tokens.SigningKeys() {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Algorithm, k.Status, formatTime(k.CreatedAt), describeSigning(tokens, k), describeRetirement(k))
	}
	return table.Flush()
}

// describeSigning describes the period in which a key signs.
func describeSigning(tokens *token.Issuer, k schemas.SigningKey) string {
	switch k.Status {
	case schemas.KeyPublished:
		return "from " + formatTime(tokens.SignsFrom(k))
	case schemas.KeySigning:
		return "since " + formatTime(k.SignsSince)
	}
	return formatTime(k.SignsSince) + " to " + formatTime(k.RetiredAt)
}

// describeRetirement describes how long a retired key is published.
func describeRetirement(k schemas.SigningKey) string {
	switch {
	case k.Status != schemas.KeyRetired:
		return ""
	case k.NeededUntil.IsZero():
		return "until it is swept"
	}
	return "until " + formatTime(k.NeededUntil)
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// keyMaintenanceInterval is how often a server reads the keys and makes the transitions
// that are due. A change of the keys takes effect on all instances within this time.
const keyMaintenanceInterval = time.Second

// maintainKeys maintains the signing keys. After an error the loaded keys stay in use.
func (h *app) maintainKeys(ctx context.Context) {
	maintain := func(time.Time) {
		if err := h.tokens.MaintainKeys(ctx); err != nil && ctx.Err() == nil {
			h.log.Error("cannot maintain the signing keys", "error", err)
		}
	}
	maintain(time.Now())
	repeat(ctx, keyMaintenanceInterval, maintain)
}
