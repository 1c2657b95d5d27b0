// Package config reads the configuration: one YAML file and the environment,
// over defaults that run without either. All keys, with their defaults and
// descriptions, are in config.schema.json.
//
// Every key has one environment variable, POSTERN_ and the key in capitals
// with _ for each dot: passkey.allowed_origins is
// POSTERN_PASSKEY_ALLOWED_ORIGINS. Lists are separated by commas there, and an
// empty variable counts as none. The environment wins over the file.
//
// Nothing is ignored: a key or a variable that does not exist is an error with
// the nearest one that does. All mistakes are reported at once, those of the
// file with line and column, those of the environment with the variable's
// name. No message shows a value that may be secret.
//
// What each key means is said once, in the descriptions of its JSON Schema.
package config
