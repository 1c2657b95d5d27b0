// Package mail sends mails to users by SMTP (RFC 5321, submission by RFC 6409): codes, invitations,
// and security notices about their accounts. Its [Sender] sends the deliveries of the kind
// schemas.MailDelivery. The queue retries temporary failures and gives up on permanent ones.
//
// Mails are composed here, in the recipient's language, as plain text and as simple HTML
// with the same content; external values are escaped in both. Addresses, the subject and
// all other header fields are parsed or encoded, so that no value can inject header fields
// (CWE-93).
package mail
