/** Hosts whose connections are passed on unread, before every other rule. Pure. */
import { wildcard } from "../../kernel/text/Wildcards.ts"

/**
 * Banks, governments and log-in services, and the servers of tunnel programs: those bring a trust store of their own, and the gateway's own
 * tunnels would be intercepted by its transparent mode.
 */
export const builtInPatterns: ReadonlyArray<string> = [
  "*.bank.*",
  "*.bank",
  "*.gov",
  "*.gov.*",
  "okta.com",
  "*.okta.com",
  "auth0.com",
  "*.auth0.com",
  "*.argotunnel.com",
  "api.trycloudflare.com",
  "*.ngrok.com",
  "*.ngrok-agent.com",
  "*.tailscale.com"
]

export const limits = { patterns: 200, patternChars: 253, stars: 8 }

/** A pattern as it is kept, or what is wrong with it as the rest of a sentence. */
export const readPattern = (
  text: string
): { readonly ok: true; readonly pattern: string } | { readonly ok: false; readonly problem: string } => {
  const pattern = text.trim().toLowerCase()
  if (pattern === "") return { ok: false, problem: "must not be empty" }
  if (pattern.length > limits.patternChars) {
    return { ok: false, problem: `must have at most ${limits.patternChars} characters` }
  }
  if (!/^[a-z0-9._*:-]+$/.test(pattern))
    return { ok: false, problem: "must be a host name, in which * stands for any text" }
  const stars = pattern.split("*").length - 1
  return stars > limits.stars
    ? { ok: false, problem: `must have at most ${limits.stars} stars` }
    : { ok: true, pattern }
}

export const neverDecrypt = (patterns: ReadonlyArray<string>): ((host: string) => boolean) => {
  const tests = [...builtInPatterns, ...patterns].map(wildcard)
  return (host) => {
    const name = host.toLowerCase()
    return tests.some((fits) => fits(name))
  }
}
