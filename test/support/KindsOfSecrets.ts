/** A made-up secret of each well-known kind, for tests of what masks them. Put together here so that no scanner takes them for real ones. */

const letters = (length: number): string => "aB3dE5gH7jK9mN1pQrStUvWxYz02468".repeat(10).slice(0, length)
const hex = (length: number): string => "0123456789abcdef".repeat(8).slice(0, length)
const capitals = (length: number): string => "QW3RTY7UIOPASDFG".repeat(8).slice(0, length)
const digits = (length: number): string => "1234567890".repeat(4).slice(0, length)
const base64 = (text: string): string => Buffer.from(text).toString("base64url")

export const jsonWebToken = [base64('{"alg":"HS256","typ":"JWT"}'), base64('{"sub":"1234567890"}'), letters(43)].join(
  "."
)

export const privateKey = [
  "-----BEGIN RSA PRIVATE KEY-----",
  ...Array.from({ length: 12 }, () => letters(64)),
  "-----END RSA PRIVATE KEY-----"
].join("\n")

/** Secrets that are recognised by their form, wherever they are. */
export const shapedSecrets: Readonly<Record<string, string>> = {
  anthropic: `sk-ant-${"api03-"}${letters(90)}`,
  openai: `sk-${letters(48)}`,
  openaiProject: `sk-proj-${letters(64)}`,
  openRouter: `sk-or-v1-${hex(64)}`,
  groq: `gsk_${letters(52)}`,
  xai: `xai-${letters(80)}`,
  perplexity: `pplx-${letters(48)}`,
  huggingFace: `hf_${letters(34)}`,
  replicate: `r8_${letters(37)}`,
  nvidia: `nvapi-${letters(64)}`,
  fireworks: `fw_${letters(24)}`,
  cerebras: `csk-${letters(48)}`,
  together: `tgp_v1_${letters(43)}`,
  tavily: `tvly-${letters(32)}`,
  jina: `jina_${letters(60)}`,
  zhipu: `${hex(32)}.${letters(16)}`,
  bedrock: `ABSK${letters(120)}`,
  google: `AIza${letters(35)}`,
  googleAccess: `ya29.${letters(120)}`,
  googleClient: `GOCSPX-${letters(28)}`,
  aws: `AKIA${capitals(16)}`,
  awsTemporary: `ASIA${capitals(16)}`,
  entra: `abc8Q~${letters(34)}`,
  github: `ghp_${letters(36)}`,
  githubApp: `ghs_${letters(36)}`,
  githubFine: `github_pat_${letters(82)}`,
  gitlab: `glpat-${letters(20)}`,
  npm: `npm_${letters(36)}`,
  pypi: `pypi-${letters(120)}`,
  docker: `dckr_pat_${letters(27)}`,
  slackBot: `xoxb-${digits(12)}-${digits(12)}-${letters(24)}`,
  slackApp: `xapp-1-${letters(10)}-${digits(12)}-${hex(64)}`,
  slackHook: `https://hooks.slack.com/services/T0${capitals(8)}/B0${capitals(8)}/${letters(24)}`,
  discordHook: `https://discord.com/api/webhooks/${digits(18)}/${letters(68)}`,
  telegram: `${digits(10)}:AA${letters(33)}`,
  stripe: `sk_live_${letters(24)}`,
  stripeRestricted: `rk_test_${letters(24)}`,
  webhook: `whsec_${letters(32)}`,
  shopify: `shpat_${hex(32)}`,
  square: `sq0atp-${letters(22)}`,
  sendGrid: `SG.${letters(22)}.${letters(43)}`,
  mailgun: `key-${hex(32)}`,
  twilio: `SK${hex(32)}`,
  digitalOcean: `dop_v1_${hex(64)}`,
  databricks: `dapi${hex(32)}`,
  vault: `hvs.${letters(90)}`,
  doppler: `dp.pt.${letters(43)}`,
  linear: `lin_api_${letters(40)}`,
  figma: `figd_${letters(40)}`,
  newRelic: `NRAK-${letters(27)}`,
  grafana: `glsa_${letters(32)}_${hex(8)}`,
  age: `AGE-SECRET-KEY-1${capitals(58)}`,
  gateway: `gw_${letters(40)}`,
  jsonWebToken,
  passwordInAddress: `postgres://app:${"hunter2-hunter2"}@db.internal:5432/main`,
  bearer: `Bearer ${letters(40)}`,
  basic: `Basic ${Buffer.from("ada:correct horse battery").toString("base64")}`,
  privateKey
}

/** Names by which the secret behind them is recognised. */
export const secretNames: ReadonlyArray<string> = [
  "api_key",
  "apiKey",
  "x-api-key",
  "OPENAI_API_KEY",
  "password",
  "db_password",
  "passwd",
  "client_secret",
  "clientSecret",
  "secret",
  "access_token",
  "refresh_token",
  "id_token",
  "authToken",
  "aws_secret_access_key",
  "private_key",
  "AccountKey",
  "SharedAccessKey",
  "session_token",
  "Ocp-Apim-Subscription-Key"
]

/** The part of a shaped secret that must not be left: all but its kind and its last four characters. */
export const coreOf = (secret: string): string => {
  if (secret.startsWith("-----BEGIN")) return secret.split("\n")[3] ?? ""
  const value = /:\/\/[^:]+:([^@]+)@/.exec(secret)?.[1] ?? secret
  return value.slice(-12, -4)
}
