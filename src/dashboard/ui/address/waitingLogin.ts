/** A login at the command line that waits for the person of this tab: kept over the way to an issuer and back, which leads to the first page. */
import { placeOf } from "./places.ts"

const name = "gateway.login"

/** Path of the page below the dashboard. */
export const loginPath = "login"

const isHere = (): boolean => location.pathname.replace(/\/$/, "") === placeOf(loginPath)

/** Takes the code of a login out of the address, so that it does not stay in the history; null: there is none. */
export const takeRequest = (): string | null => {
  const code = new URLSearchParams(location.hash.slice(1)).get("request")
  if (code !== null) history.replaceState(history.state, "", `${location.pathname}${location.search}`)
  return code
}

/** Keeps that this tab is at a login, before it leaves to sign in. */
export const keepLogin = (): void => {
  if (isHere()) sessionStorage.setItem(name, location.hash)
}

/** Goes back to the login that this tab has left to sign in. */
export const resumeLogin = (): void => {
  const hash = sessionStorage.getItem(name)
  if (hash === null) return
  sessionStorage.removeItem(name)
  if (!isHere()) history.replaceState(history.state, "", `${placeOf(loginPath)}${hash}`)
}
