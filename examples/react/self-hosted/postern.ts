/** The address of Postern: its server.public_url, without a trailing slash. */
export const baseUrl = "https://localhost:8090";

/** The id of the application at Postern: its id, not its clientId. */
export const applicationId = "YOUR_APPLICATION_ID";
