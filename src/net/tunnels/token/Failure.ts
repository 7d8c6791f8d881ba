/** Meaning of an error of ngrok for a tunnel, by its code: https://ngrok.com/docs/errors/reference */
import { scrub } from "../../../kernel/secrets/Scrub.ts"
import { harmless } from "../../../kernel/text/TerminalText.ts"
import { TunnelFailed, TunnelNeedsAuth } from "../Backend.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

/** Page on which ngrok shows people their authtoken. */
export const authTokenPage = "https://dashboard.ngrok.com/get-started/your-authtoken"

const mostShownChars = 300
/** More of a text is not looked at. */
const mostReadChars = 4_096

/** The token is of no use; a person has to give another one. */
const badToken: ReadonlySet<string> = new Set(
  // Of no known form, of version 1, unknown or reset, an invalid payload, an invalid cookie, revoked, not logged in.
  ["105", "106", "107", "109", "110", "300", "4018"]
)

/** A person has to do something at ngrok, and until then every try ends the same. */
const refused: Readonly<Record<string, string>> = {
  "102": "ngrok could not collect the last payment for this account",
  "103": "ngrok has suspended this account",
  "115":
    "ngrok does not let this account's agents connect from this address. See https://dashboard.ngrok.com/ip-restrictions",
  "116": "The access rules of this authtoken do not allow this address",
  "120": "ngrok does not support this version of its SDK any more. Update the gateway",
  "121": "ngrok does not support this version of its SDK any more. Update the gateway",
  "337": "ngrok could not collect the last payment for this account",
  "338": "ngrok has suspended this account",
  "4014": "ngrok has suspended this account"
}

/** Errors that pass: the agent that has the place may end. */
const passing: Readonly<Record<string, string>> = {
  "108":
    "ngrok allows this account no more agents at once, and as many as it may have are running. Stop another one, for example an ngrok on another machine",
  "334": "The address of this account is in use by another agent of ngrok, or by one that has not ended yet"
}

const codeIn = (message: string): string | null => /ERR_NGROK_(\d{1,6})/.exec(message)?.[1] ?? null

/** The first sentence of ngrok's text, without the token and on one line. */
const shown = (message: string, token: string): string => {
  const text = scrub(message.slice(0, mostReadChars), [token])
    .replace(/^failed to connect session: /, "")
    .replace(/\s*error_code: ERR_NGROK_\d+$/, "")
  const line = harmless(text.trim().split(/\r?\n/, 1)[0] ?? "")
  return line.length > mostShownChars ? `${line.slice(0, mostShownChars)}…` : line
}

/** `token`: what must not be shown. */
export const failureOf = (message: string, token: string): TunnelFailed | TunnelNeedsAuth => {
  const code = codeIn(message.slice(0, mostReadChars))
  if (code === null) {
    return new TunnelFailed({ reason: `ngrok cannot be reached: ${asSentence(shown(message, token))}`, isFinal: false })
  }
  const named = `(ERR_NGROK_${code})`
  if (badToken.has(code)) {
    return new TunnelNeedsAuth({ reason: `ngrok does not take this authtoken ${named}.`, authUrl: authTokenPage })
  }
  if (code === "123") {
    return new TunnelNeedsAuth({
      reason: `ngrok wants the e-mail address of this account to be verified first ${named}.`,
      authUrl: "https://dashboard.ngrok.com/user/settings"
    })
  }
  const final = refused[code]
  if (final !== undefined) return new TunnelFailed({ reason: `${final} ${named}.`, isFinal: true })
  const reason = passing[code] ?? `ngrok refuses: ${shown(message, token).replace(/\.$/, "")}`
  return new TunnelFailed({ reason: `${reason} ${named}.`, isFinal: false })
}
