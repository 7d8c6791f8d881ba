/** The credential by which a request names a session: the cookie of a browser, or the bearer credential of a login at the command line. Pure. */
import { bearerOf, type RequestHeaders } from "../Credentials.ts"
import { isLoginToken } from "../KeyFormat.ts"
import { cookieOf } from "./SessionCookie.ts"

/** Returns the credential of a login at the command line; null: the request has none. */
export const loginTokenOf = (headers: RequestHeaders): string | null => {
  const bearer = bearerOf(headers)
  return bearer !== null && isLoginToken(bearer) ? bearer : null
}

/** Returns what names the session of a request; what was sent on purpose wins over the cookie. */
export const sessionCredentialOf = (headers: RequestHeaders): string | null =>
  loginTokenOf(headers) ?? cookieOf(headers)
