/**
 * Advice for people about a refusal: one table over the refusal, the credential that was sent, and where the gateway is. Pure. The message
 * names the problem; the advice never proposes the step that was just taken, or one that is possible on another machine only.
 */

/** Source of the key that was sent. `inPlaceOfOwner`: a variable, though the data folder's owner asks, who needs none. */
export const credentials = ["none", "flag", "environment", "inPlaceOfOwner", "login", "owner"] as const
export type Credential = (typeof credentials)[number]

/** `here`: an address of this machine. `tunnel`: one of a tunnel, behind which the gateway may be anywhere. */
export const places = ["here", "elsewhere", "tunnel"] as const
export type Place = (typeof places)[number]

export const refusals = [
  /** Nothing answers at the address. */
  "offline",
  /** The server is no gateway, or of another version. */
  "notOurs",
  /** The answer takes too long. */
  "timeout",
  /** No key arrived. */
  "keyMissing",
  /** The gateway does not know the key. */
  "keyUnknown",
  /** The key has expired or is switched off. */
  "keyEnded",
  /** The key lacks the scope of this route. */
  "scopeMissing",
  /** The key may do such things, but not this one: model, combo, endpoint, address, time, quota group. */
  "keyRestricted",
  /** No administrator is set up. */
  "adminMissing",
  /** The route takes the session of a log-in only. */
  "sessionNeeded",
  /** The route takes direct connections from the gateway's machine only. */
  "localOnly",
  /** The route is for the owner of the data folder. */
  "ownerOnly",
  /** The IP filter does not let this address in. */
  "addressFiltered",
  /** A tunnel is not answered while no key is required. */
  "keysNotRequired",
  /** The gateway does not answer under this host name. */
  "siteRefused",
  /** A guard refused what was asked. */
  "guarded",
  /** A plugin refused what was asked. */
  "pluginBlocked",
  /** The provider refused the gateway's own credential. */
  "providerRefused",
  /** A program between refused it, such as a proxy with a log-in of its own. */
  "inFront",
  /** The request is forbidden for another reason. */
  "forbidden",
  /** The request is wrong. */
  "badRequest",
  /** The requests are too many, or a limit is used up. */
  "tooMany",
  /** The gateway or what it needs failed. */
  "failed"
] as const
export type Refusal = (typeof refusals)[number]

type Advice = string | null
type ByPlace = Readonly<Record<Place, Advice>>
type ByCredential = Readonly<Record<Credential, ByPlace>>

const everywhere = (advice: Advice): ByPlace => ({ here: advice, elsewhere: advice, tunnel: advice })
const always = (advice: Advice): ByCredential => forAll(everywhere(advice))
const forAll = (advice: ByPlace): ByCredential => ({
  none: advice,
  flag: advice,
  environment: advice,
  inPlaceOfOwner: advice,
  login: advice,
  owner: advice
})
/** A gateway behind a tunnel is not assumed to be on this machine. */
const hereOrNot = (here: Advice, elsewhere: Advice): ByPlace => ({ here, elsewhere, tunnel: elsewhere })

const again = "Wait a little, then run the command again."
const another = "name another one with --url or GATEWAY_URL"
const onItsMachine = "on the gateway's own machine, the user who runs it"

const byAnAdmin = "with an admin's key, or on the gateway's own machine as the user who runs it"
const needsNone = "The user who runs the gateway needs none: try --local."
const ownerNeedsNone = "or give --local: you run this gateway, and need none."
/** `{variable}` is the variable that held the key. */
const used = "The key of {variable} was used. "

const keyOrLogin = hereOrNot(
  "Give a key with --gateway-key or GATEWAY_ADMIN_KEY; the user who runs the gateway needs none: try --local.",
  `Log in with 'gateway login <url>', or give a key with --gateway-key or GATEWAY_ADMIN_KEY; ${onItsMachine} needs none: --local there.`
)

const keyLost = everywhere(
  "A key was sent and did not arrive: a program between may take the header 'Authorization' out. Ask the gateway directly."
)

interface ToDo {
  /** Advice where the gateway is on this machine; without a full stop. */
  readonly here: string
  readonly elsewhere: string
}

/**
 * Writes the advice after the refusal of a key that was sent: the remedy, the variable that it came from, and that the
 * owner needs none.
 */
const ofKey = ({ elsewhere, here }: ToDo) => {
  const plain = hereOrNot(`${here}. ${needsNone}`, `${elsewhere}.`)
  return {
    flag: plain,
    environment: hereOrNot(`${used}${here}. ${needsNone}`, `${used}${elsewhere}.`),
    inPlaceOfOwner: everywhere(`${used}${here}, ${ownerNeedsNone}`),
    login: plain
  }
}

/** The same after every key that is not the owner's. */
const withKey = (advice: ByPlace, none: ByPlace, owner: ByPlace, inPlaceOfOwner: ByPlace): ByCredential => ({
  none,
  flag: advice,
  environment: advice,
  inPlaceOfOwner,
  login: advice,
  owner
})

const none = everywhere(null)

/** Everything a person is advised after a refusal. */
export const adviceTable: Readonly<Record<Refusal, ByCredential>> = {
  offline: {
    ...forAll({
      here: `Start it with 'gateway serve', or ${another}.`,
      elsewhere: `Check the address, and on that machine that the gateway runs; or ${another}.`,
      tunnel: `The tunnel may be closed or have another address now: 'gateway tunnel list' on the gateway's machine shows it. Or ${another}.`
    }),
    none: {
      here: `Start it with 'gateway serve', or ${another}. One on another machine: 'gateway login <url>'.`,
      elsewhere: `Check the address, and on that machine that the gateway runs; or ${another}.`,
      tunnel: `The tunnel may be closed or have another address now: 'gateway tunnel list' on the gateway's machine shows it. Or ${another}.`
    },
    login: {
      here: "You are logged in to it: start it with 'gateway serve', choose another with 'gateway context use', or use --local for this data folder's.",
      elsewhere:
        "You are logged in to it: check on that machine that it runs, choose another with 'gateway context use', or use --local for this machine's.",
      tunnel:
        "You are logged in to it: the tunnel may be closed or have another address now. Choose another with 'gateway context use', or use --local for this machine's."
    }
  },
  notOurs: always("Check the address with --url, and that both ends are of one version ('gateway status')."),
  timeout: always(again),
  keyMissing: withKey(keyLost, keyOrLogin, keyLost, keyLost),
  keyUnknown: {
    none: keyOrLogin,
    flag: hereOrNot(
      `Check --gateway-key. ${needsNone}`,
      `Check --gateway-key, or log in with 'gateway login <url>'; ${onItsMachine} needs none: --local there.`
    ),
    environment: hereOrNot(
      `${used}Give this gateway's with --gateway-key, or unset the variable. ${needsNone}`,
      `${used}Give this gateway's with --gateway-key, or unset the variable and log in with 'gateway login <url>'.`
    ),
    inPlaceOfOwner: everywhere(`${used}Give this gateway's with --gateway-key, ${ownerNeedsNone}`),
    login: everywhere("The key of this login is gone there: 'gateway logout', then 'gateway login <url>' once more."),
    // The token changes with every start.
    owner: everywhere("It may have been restarted just now: run the command again.")
  },
  keyEnded: {
    ...ofKey({
      here: "Use another key; 'gateway key edit' and 'gateway key enable' change this one",
      elsewhere: "Use another key; 'gateway key edit' and 'gateway key enable' change this one, with an admin's key"
    }),
    none: keyOrLogin,
    login: everywhere("The key of this login has ended: 'gateway logout', then 'gateway login <url>' once more."),
    owner: none
  },
  scopeMissing: {
    ...ofKey({
      here: "For more than its own usage ('gateway me') use a key that has the scope; 'gateway key edit <key> --scope <scope>' gives it to this one",
      elsewhere: `For more than its own usage ('gateway me') use a key that has the scope; 'gateway key edit <key> --scope <scope>' gives it to this one, ${byAnAdmin}`
    }),
    none: keyOrLogin,
    owner: none
  },
  keyRestricted: {
    ...ofKey({
      here: "Use a key that may; 'gateway key edit' changes what this one may",
      elsewhere: `Use a key that may; 'gateway key edit' changes what this one may, ${byAnAdmin}`
    }),
    none,
    owner: none
  },
  adminMissing: {
    ...forAll(
      hereOrNot(
        "The user who runs the gateway needs no administrator: try --local.",
        "An administrator is set on the gateway's machine."
      )
    ),
    inPlaceOfOwner: everywhere("You run this gateway, and need no administrator: give --local."),
    owner: none
  },
  sessionNeeded: withKey(
    hereOrNot(
      "No key replaces the session. Try --local, as the user who runs the gateway, or do it on the dashboard.",
      "No key replaces the session. Run the command on the gateway's machine, as the user who runs it."
    ),
    hereOrNot(
      "Try --local, as the user who runs the gateway, or do it on the dashboard.",
      "Run the command on the gateway's machine, as the user who runs it."
    ),
    everywhere("Do it on the dashboard, after a log-in with the admin password."),
    everywhere("No key replaces the session. Give --local: you run this gateway.")
  ),
  localOnly: {
    ...forAll({
      here: "Ask it directly at its own address, without a proxy between: try --local.",
      elsewhere: "Run the command on the gateway's machine.",
      tunnel: "Run the command on the gateway's machine, with the gateway's own address in place of the tunnel's."
    }),
    owner: hereOrNot(
      "Ask it directly at its own address, without a proxy between.",
      "Run the command on the gateway's machine."
    )
  },
  ownerOnly: {
    ...forAll(
      hereOrNot(
        "Try --local, as the user who runs the gateway.",
        "Run the command on the gateway's machine, as the user who runs it."
      )
    ),
    inPlaceOfOwner: everywhere("Give --local: you run this gateway."),
    owner: none
  },
  addressFiltered: forAll(
    hereOrNot(
      "'gateway settings ip-filter show --local' shows which addresses are let in.",
      "On the gateway's machine, 'gateway settings ip-filter show --local' shows which addresses are let in."
    )
  ),
  keysNotRequired: always(null),
  siteRefused: forAll(
    hereOrNot(
      "Use the address that it listens on, or let this name in: 'allowedHosts' of 'gateway settings'.",
      "Use the address that it listens on, or let this name in on the gateway's machine: 'allowedHosts' of 'gateway settings'."
    )
  ),
  guarded: always("A guard does not let it pass, whatever the key. 'gateway guardrails show' shows the rules."),
  pluginBlocked: always("A plugin does not let it pass, whatever the key. 'gateway plugin list' shows the plugins."),
  providerRefused: always(
    "The provider refuses the credential that the gateway has for it: 'gateway provider validate' shows which connection."
  ),
  inFront: always(
    "It was refused before it came to the gateway, by a program between, such as a proxy. The gateway's own keys do not help there."
  ),
  forbidden: always(null),
  badRequest: always(null),
  tooMany: always(again),
  failed: always(again)
}

export interface Circumstances {
  readonly credential: Credential
  /** The variable that held the key; null: none did. */
  readonly variable: string | null
  readonly place: Place
  /** The address is of a login, whatever key was sent there. */
  readonly isLogin: boolean
  /** The credential is that of a person who has logged in. */
  readonly isPerson?: boolean
}

const loginAgain = "The login has ended: log in again with 'gateway login <url> --sso'."

/** Advice for a person who has logged in by a directory, where a key would not help. */
const personAdvice: Readonly<Partial<Record<Refusal, string>>> = {
  keyUnknown: loginAgain,
  keyEnded: loginAgain,
  scopeMissing:
    "'gateway whoami' shows what your role opens; an administrator changes the role. Models are asked with a key of yours: see 'gateway key list', and set it as GATEWAY_API_KEY."
}

/** Returns the next step; null: the message suffices. */
export const adviceFor = (
  refusal: Refusal,
  { credential, isLogin, isPerson = false, place, variable }: Circumstances
): string | null => {
  const ofPerson = isPerson ? personAdvice[refusal] : undefined
  if (ofPerson !== undefined) return ofPerson
  const row = adviceTable[refusal][refusal === "offline" && isLogin ? "login" : credential]
  return row[place]?.replace("{variable}", variable ?? "the environment") ?? null
}

/** Refusals whose cause is the credential of the caller: scripts get the exit code of authentication. */
export const ofCredential: ReadonlySet<Refusal> = new Set([
  "keyMissing",
  "keyUnknown",
  "keyEnded",
  "scopeMissing",
  "keyRestricted",
  "adminMissing",
  "sessionNeeded",
  "localOnly",
  "ownerOnly",
  "addressFiltered",
  "keysNotRequired",
  "siteRefused",
  "inFront"
])

/** Error codes of the gateway, whatever status they come with. */
const byCode: Readonly<Record<string, Refusal>> = {
  missing_api_key: "keyMissing",
  invalid_api_key: "keyUnknown",
  key_expired: "keyEnded",
  key_inactive: "keyEnded",
  key_scope: "scopeMissing",
  login_asks_no_models: "scopeMissing",
  key_schedule: "keyRestricted",
  key_ip: "keyRestricted",
  key_endpoint: "keyRestricted",
  key_owner: "keyRestricted",
  key_model: "keyRestricted",
  key_combo: "keyRestricted",
  key_connection: "keyRestricted",
  QUOTA_NOT_ALLOCATED: "keyRestricted",
  role_limits: "keyRestricted",
  admin_not_configured: "adminMissing",
  session_required: "sessionNeeded",
  csrf_token_invalid: "sessionNeeded",
  loopback_only: "localOnly",
  owner_only: "ownerOnly",
  ip_filtered: "addressFiltered",
  keys_required: "keysNotRequired",
  cross_site_request: "siteRefused",
  host_not_allowed: "siteRefused",
  SECURITY_001: "guarded",
  SECURITY_002: "guarded",
  plugin_blocked: "pluginBlocked"
}

/** Facts in an error answer. */
export interface ErrorFacts {
  readonly status: number
  /** Code in the body; null: it has none. */
  readonly code: string | null
  /** Providers were asked. */
  readonly wasSentOn: boolean
  /** The answer has the gateway's headers. */
  readonly isOurs: boolean
}

const byStatus = (status: number): Refusal => {
  if (status === 403) return "forbidden"
  if (status === 408) return "timeout"
  if (status === 429) return "tooMany"
  return status >= 500 ? "failed" : "badRequest"
}

/** Classifies the refusal of an error answer. `hasKey`: a key was sent. */
export const refusalOf = ({ code, isOurs, status, wasSentOn }: ErrorFacts, hasKey: boolean): Refusal => {
  const isKeyStatus = status === 401 || status === 403
  if (isKeyStatus && wasSentOn) return "providerRefused"
  if (isKeyStatus && !isOurs) return "inFront"
  const known = code === null ? undefined : byCode[code]
  // Every 401 has the code of an unknown key where it has no other one.
  if (status === 401 && (known === undefined || known === "keyUnknown")) return hasKey ? "keyUnknown" : "keyMissing"
  return known ?? byStatus(status)
}

/** Domains under which tunnels give out addresses. */
const tunnelDomains =
  /(?:^|\.)(?:trycloudflare\.com|ngrok\.(?:io|app|dev|pizza)|ngrok-free\.(?:app|dev)|ts\.net|lhr\.life|localhost\.run|serveo(?:usercontent)?\.(?:net|com)|pinggy\.(?:io|link|online)|loca\.lt)$/i

/** Classifies the place of a gateway by its address. `isOwn` says whether an address is one of this machine. */
export const placeOf = (url: string, isOwn: (host: string) => boolean): Place => {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "") : ""
  if (tunnelDomains.test(host)) return "tunnel"
  return isOwn(host) ? "here" : "elsewhere"
}
