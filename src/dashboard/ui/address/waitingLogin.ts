/** A login at the command line that waits for the person of this tab. */
import { placeOf } from "./places.ts"

/** Path of the page below the dashboard. */
export const loginPath = "login"

const isHere = (): boolean => location.pathname.replace(/\/$/, "") === placeOf(loginPath)

const codeHere = (): string | null => new URLSearchParams(location.hash.slice(1)).get("request")

/** Takes the code of a login out of the address, so that it does not stay in the history; null: there is none. */
export const takeRequest = (): string | null => {
  const code = codeHere()
  if (code !== null) history.replaceState(history.state, "", `${location.pathname}${location.search}`)
  return code
}

/** Query of a sign-in that comes back to the login which this tab is at; empty where it is at none. */
export const waitingLogin = (): string => (isHere() ? `?login=${encodeURIComponent(codeHere() ?? "")}` : "")
