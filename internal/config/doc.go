// Package config reads the configuration: the defaults, one YAML file, and the environment, each of
// which overrides those before it. The defaults suffice to run the server. All keys, with their
// defaults and descriptions, are in config.schema.json.
//
// Every key has one environment variable, POSTERN_ and the key in capitals with _ for each dot:
// passkey.allowed_origins is POSTERN_PASSKEY_ALLOWED_ORIGINS. The items of lists are separated by
// commas, and an empty variable counts as unset.
//
// Nothing is ignored: an unknown key or variable is an error that suggests a similar one. All
// mistakes are reported at once, those of the file with line and column, those of the environment
// with the variable's name. No message shows a value that may be secret.
//
// The descriptions in the JSON Schema are the documentation of the keys.
package config
