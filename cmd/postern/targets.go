package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/target"
)

// queriesAtOnce is how many flows may wait for services at the same time, an eighth of them
// for one service. Other outbound requests have a limit of their own.
const queriesAtOnce = 256

// newTargets creates the services that flows call.
func (h *app) newTargets() (*target.Targets, error) {
	rules := h.observedRules()
	rules.MaxConcurrent = queriesAtOnce
	services := make(map[string]target.Service)
	for name, t := range h.cfg.HTTP.Targets {
		service, err := newService(t)
		if err != nil {
			return nil, fmt.Errorf("http.targets.%s.%w", name, err)
		}
		services[name] = service
	}
	return target.New(target.Options{
		Services: services, Requests: outbound.New(rules), Sealer: h.sealer, Log: h.log, Now: time.Now,
	})
}

// newService reads the secrets of a target from files. An error begins with the name of the
// member, and contains no secret.
func newService(t config.Target) (target.Service, error) {
	s := target.Service{URL: t.URL, Authorization: t.Authorization, Timeout: t.Timeout}
	secret := t.Secret
	if t.SecretFile != "" {
		text, err := readLine(t.SecretFile)
		if err != nil {
			return s, fmt.Errorf("secret_file: %w", err)
		}
		secret = text
	}
	if secret != "" || t.SecretFile != "" {
		key, err := config.ParseSigningSecret(secret)
		if err != nil {
			return s, fmt.Errorf("secret_file: %s: %w", t.SecretFile, err)
		}
		s.Key = key
	}
	if t.AuthorizationFile != "" {
		text, err := readLine(t.AuthorizationFile)
		if err != nil {
			return s, fmt.Errorf("authorization_file: %w", err)
		}
		if err := config.FieldValue(text); err != nil {
			return s, fmt.Errorf("authorization_file: %s: %w", t.AuthorizationFile, err)
		}
		s.Authorization = text
	}
	return s, nil
}

// maxLine limits a file of one line, in bytes.
const maxLine = 64 << 10

// readLine reads a file of one line, as editors and `echo` write it.
func readLine(path string) (string, error) {
	text, err := folder.Read(path, maxLine)
	return strings.TrimSpace(string(text)), err
}
