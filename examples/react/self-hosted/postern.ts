/** The address of Postern: its server.public_url, without a trailing slash. */
export const baseUrl = "http://localhost:8090";

/** The id of the application at Postern: its id, not its clientId. */
export const applicationId = "01900000-0000-7000-8000-000000000005";
