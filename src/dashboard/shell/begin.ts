/** Learns whether this page has a session: by its cookie, or by the one-time code that `gateway open` has put into the address. */
import { authExchangeCode, authSession, systemInit } from "../api/calls.generated.ts"
import { learnMe } from "../api/rights.ts"
import { ended, hasPassword, opened } from "../api/session.ts"

/** Takes the code out of the address: it counts once, and it shall not stay in the history. */
const takeCode = (): string | null => {
  const code = new URLSearchParams(location.hash.slice(1)).get("code")
  if (code === null) return null
  history.replaceState(history.state, "", `${location.pathname}${location.search}`)
  return code
}

/** Learns whether there is a password to log in with; where the gateway is away it stays as it was. */
export const learnSetup = async (): Promise<void> => {
  try {
    hasPassword.value = (await systemInit()).passwordSet
  } catch {
    // The login says that the gateway does not answer.
  }
}

export const begin = async (): Promise<void> => {
  const code = takeCode()
  if (code !== null) {
    try {
      opened((await authExchangeCode({ body: { code } })).csrfToken)
    } catch {
      // Used before, or too late: the login says what to do.
    }
  }
  try {
    const { csrfToken, passwordSet } = await authSession()
    hasPassword.value = passwordSet
    if (csrfToken === null) ended()
    else {
      await learnMe()
      opened(csrfToken)
    }
  } catch {
    await learnSetup()
    ended()
  }
}
