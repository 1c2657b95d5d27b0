/** Where Postern answers: its server.public_url, without a slash at the end. */
export const baseUrl = "https://localhost:8090";

/** The id of the application at Postern: its id, not its clientId. */
export const applicationId = "YOUR_APPLICATION_ID";
