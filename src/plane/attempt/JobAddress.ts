/**
 * Decides whether a request about a job goes to the provider itself, with its credential, or to an address that the
 * provider only names. Pure.
 */
import { maxUrlChars } from "../../net/egress/OutboundPolicy.ts"

export type JobAddress =
  | { readonly _tag: "Own"; readonly origin: string; readonly path: string }
  | { readonly _tag: "Foreign"; readonly url: string }

/** `submitted`: origin of the submit. Null: it cannot be read. */
export const jobAddress = (url: string, submitted: string, ownHosts: string | undefined): JobAddress | null => {
  if (url.length > maxUrlChars || !URL.canParse(url)) return null
  const { host, hostname, origin, pathname, protocol, search, username } = new URL(url)
  if ((protocol !== "https:" && protocol !== "http:") || username !== "" || host === "") return null
  const path = pathname + search
  if (origin === submitted) return { _tag: "Own", origin, path }
  const isFamily =
    ownHosts !== undefined &&
    protocol === "https:" &&
    submitted.startsWith("https://") &&
    hostname.endsWith(ownHosts) &&
    new URL(submitted).hostname.endsWith(ownHosts)
  return isFamily ? { _tag: "Own", origin, path } : { _tag: "Foreign", url }
}
