// Package mail sends mails by SMTP (RFC 5321, submission by RFC 6409): codes to people
// who sign in. Its [Sender] is that of the deliveries of the kind
// schemas.MailDelivery; what fails for a while is sent again by the queue, and what a
// mail server refuses for good is not.
//
// What a mail says is put together here, in the language of its reader. A mail has a
// plain text and the same as simple HTML; what comes from outside is text in both.
// Addresses, the subject and all else that becomes a field of the header is parsed or
// encoded, so that nobody adds fields of their own (CWE-93).
package mail
