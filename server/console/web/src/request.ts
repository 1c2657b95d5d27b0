// Requests over HTTP, with the error of a broken connection.

/** ConnectionError reports that no reply arrived: the connection is broken, or the browser blocked the request. */
export class ConnectionError extends Error {}

/** request is fetch with a ConnectionError for a broken connection; fetch reports that as a TypeError, as it does a fault of a program. */
export async function request(input: RequestInfo, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (error) {
    throw error instanceof DOMException && error.name === "AbortError" ? error : new ConnectionError(String(error), { cause: error });
  }
}
