-- +goose Up

-- Whether the attestation of a passkey chained to a trust anchor. Of the passkeys there
-- are nothing is known, so they are not attested.
ALTER TABLE credentials ADD COLUMN attested BOOLEAN NOT NULL DEFAULT FALSE;

-- Until now the classes phr and phrh were above two factors, whether or not the passkey
-- verified its user, and phrh and hwk rested on what the authenticator said of itself.
-- What was signed in to, or granted, before is worth what its methods prove: possession
-- (phr), or two factors (urn:postern:acr:mfa-phr) if the user was verified or gave a
-- password too. schemas.RevaluedAssurance does the same.
UPDATE sessions SET acr = CASE
    WHEN strpos(chr(10) || amr, chr(10) || 'user' || chr(10)) > 0 OR strpos(chr(10) || amr, chr(10) || 'mfa' || chr(10)) > 0
    THEN 'urn:postern:acr:mfa-phr' ELSE 'phr' END
    WHERE acr IN ('phr', 'phrh');
UPDATE sessions SET amr = amr || 'mfa' || chr(10)
    WHERE strpos(chr(10) || amr, chr(10) || 'user' || chr(10)) > 0 AND strpos(chr(10) || amr, chr(10) || 'mfa' || chr(10)) = 0;
UPDATE sessions SET amr = substr(replace(chr(10) || amr, chr(10) || 'hwk' || chr(10), chr(10)), 2)
    WHERE strpos(chr(10) || amr, chr(10) || 'hwk' || chr(10)) > 0;

UPDATE auth_requests SET granted = CASE
    WHEN strpos(granted, '"user"') > 0 OR strpos(granted, '"mfa"') > 0
    THEN replace(replace(granted, '"acr":"phrh"', '"acr":"urn:postern:acr:mfa-phr"'), '"acr":"phr"', '"acr":"urn:postern:acr:mfa-phr"')
    ELSE replace(granted, '"acr":"phrh"', '"acr":"phr"') END;
UPDATE auth_requests SET granted = replace(granted, '"user"', '"user","mfa"') WHERE strpos(granted, '"mfa"') = 0;
UPDATE auth_requests SET granted = replace(granted, '"hwk",', '');

UPDATE refresh_families SET granted = CASE
    WHEN strpos(granted, '"user"') > 0 OR strpos(granted, '"mfa"') > 0
    THEN replace(replace(granted, '"acr":"phrh"', '"acr":"urn:postern:acr:mfa-phr"'), '"acr":"phr"', '"acr":"urn:postern:acr:mfa-phr"')
    ELSE replace(granted, '"acr":"phrh"', '"acr":"phr"') END;
UPDATE refresh_families SET granted = replace(granted, '"user"', '"user","mfa"') WHERE strpos(granted, '"mfa"') = 0;
UPDATE refresh_families SET granted = replace(granted, '"hwk",', '');
