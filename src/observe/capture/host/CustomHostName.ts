/** Names that may be sent to this machine by the hosts file. */

const maxChars = 253
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/u

/** The name as it is kept (lower case); or what is wrong with it, as the rest of a sentence that begins with the name. */
export type ReadHostName =
  | { readonly ok: true; readonly host: string }
  | { readonly ok: false; readonly problem: string }

const wrong = (problem: string): ReadHostName => ({ ok: false, problem })

export const readHostName = (text: string): ReadHostName => {
  if (text.length > maxChars) return wrong(`is longer than ${maxChars} characters`)
  const host = text.toLowerCase()
  const labels = host.split(".")
  const last = labels.at(-1) ?? ""
  if (host === "localhost" || last === "localhost" || host === "localhost.localdomain") {
    return wrong("means this machine already")
  }
  if (!labels.every((part) => label.test(part))) {
    return wrong("is no host name: letters, digits, '-' and '.' only, without scheme, port, path or '*'")
  }
  // A last part of digits makes it an IPv4 address, however it is written: https://url.spec.whatwg.org/#ends-in-a-number-checker
  if (/^(?:\d+|0x[0-9a-f]*)$/u.test(last)) return wrong("is an address: only names can be sent elsewhere")
  return { ok: true, host }
}
