package flowtest

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

func (m *Memory) change(change schemas.Change) error {
	switch c := change.(type) {
	case schemas.CreateUser:
		return m.createUser(c.User)
	case schemas.VerifyEmail:
		return m.verifyEmail(c)
	case schemas.SetPassword:
		m.passwords[c.UserID] = c
	case schemas.RehashPassword:
		if p := m.passwords[c.UserID]; p.Hash == c.Verified {
			p.Hash = c.Hash
			m.passwords[c.UserID] = p
		}
	case schemas.RequireProofs:
		return m.requireProofs(c)
	case schemas.UpdateUser:
		return m.updateUser(c)
	case schemas.SetTOTP, schemas.UseTOTP, schemas.DeleteTOTP, schemas.SetRecoveryCodes, schemas.UseRecoveryCode, schemas.DeleteRecoveryCodes:
		return m.changeFactor(c)
	case schemas.LinkIdentity, schemas.UseIdentity, schemas.UnlinkIdentity:
		return m.changeIdentity(c)
	case schemas.CreateCredential:
		if m.credential(c.Credential.ID) >= 0 {
			return schemas.Errorf(schemas.Conflict, schemas.CodeCredentialExists, "the passkey is registered already")
		}
		m.credentials = append(m.credentials, c.Credential)
	case schemas.UseCredential, schemas.RenameCredential, schemas.DeleteCredential:
		return m.changeCredential(c)
	case schemas.StartSession:
		if err := m.requireActive(c.Session.UserID, c.Session.CreatedAt); err != nil {
			return err
		}
		m.sessions = append(m.sessions, c.Session)
	case schemas.EndSession:
		m.sessions = slices.DeleteFunc(m.sessions, func(s schemas.Session) bool { return s.ID == c.ID })
	case schemas.GrantAuthRequest:
		return m.grant(c)
	case schemas.RefuseAuthRequest:
		return m.refuse(c)
	case schemas.ApproveAuthRequest:
		return m.decide(c.ID, c.BrowserHash, c.At, func(r *schemas.AuthRequest) { r.Approval = &c.Approval })
	case schemas.GrantConsent:
		m.consent(c)
	case schemas.RevokeToken:
		m.revoked = append(m.revoked, c.ID)
	case schemas.QueueDelivery:
		m.deliveries = append(m.deliveries, c.Delivery)
	case schemas.RecordEvent:
		m.events = append(m.events, c.Event)
	default:
		return fmt.Errorf("flowtest: change of unknown type %T", change)
	}
	return nil
}

// grant grants an authorization request, unless the run ended in another browser.
func (m *Memory) grant(c schemas.GrantAuthRequest) error {
	return m.decide(c.ID, c.BrowserHash, c.At, func(r *schemas.AuthRequest) { r.Grant = &c.Grant })
}

// refuse refuses an authorization request, unless the run ended in another browser.
func (m *Memory) refuse(c schemas.RefuseAuthRequest) error {
	return m.decide(c.ID, c.BrowserHash, c.At, func(r *schemas.AuthRequest) { r.Refusal = &c.Refusal })
}

func (m *Memory) decide(id string, browser []byte, at time.Time, decision func(*schemas.AuthRequest)) error {
	r, ok := m.requests[id]
	if !ok || r.Grant != nil || r.Refusal != nil || !at.Before(r.ExpiresAt) {
		return noAuthRequest(id)
	}
	if bytes.Equal(browser, r.BrowserHash) {
		decision(&r)
		m.requests[id] = r
	}
	return nil
}

// changeCredential applies a change to an existing passkey.
func (m *Memory) changeCredential(change schemas.Change) error {
	var id schemas.Bytes
	var apply func(i int)
	switch c := change.(type) {
	case schemas.UseCredential:
		id, apply = c.ID, func(i int) {
			used := &m.credentials[i]
			used.SignCount, used.BackupState, used.LastUsedAt = max(used.SignCount, c.SignCount), c.BackupState, &c.At
		}
	case schemas.RenameCredential:
		id, apply = c.ID, func(i int) { m.credentials[i].Name = c.Name }
	case schemas.DeleteCredential:
		id, apply = c.ID, func(i int) { m.credentials = slices.Delete(m.credentials, i, i+1) }
	}
	i := m.credential(id)
	if i < 0 {
		return notFound(schemas.CodeCredentialNotFound, "passkey", id.String())
	}
	apply(i)
	return nil
}

func (m *Memory) createUser(u schemas.User) error {
	if unfit := u.CheckIdentifiers(); len(unfit) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the %s is not usable", unfit[0].Path).WithProblems(unfit)
	}
	var taken []schemas.Problem
	for _, attribute := range schemas.IdentifyingAttributes() {
		if value := u.Text(attribute); value != "" && m.find(value, schemas.IdentifyingAttributes()...) != nil {
			taken = append(taken, schemas.Problem{Path: attribute, Message: "is taken"})
		}
	}
	if len(taken) > 0 {
		return schemas.Errorf(schemas.Conflict, schemas.CodeAttributeTaken, "the %s is taken", taken[0].Path).WithProblems(taken)
	}
	m.loseEmail(u)
	m.users[u.ID] = u
	return nil
}
