/** Rules for webhooks: those that send mail, and quiet hours. Pure. */
import type { MailInput, QuietHoursInput } from "./routes.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import { type MailSettings, type QuietHours, weekdays, type WebhookKind } from "./entity.ts"
import { isMailAddress, serverOf } from "./MailAddress.ts"

const isImplicit = (url: string): boolean => /^smtps:/i.test(url)

/** Quiet hours of an input. Days stand in the order of the week; none given: every day. */
export const quietHoursOf = (given: QuietHoursInput | null): QuietHours | null =>
  given === null
    ? null
    : {
        windows: given.windows.map(({ days, from, to }) => ({
          days: days === undefined || days === null ? weekdays : weekdays.filter((day) => days.includes(day)),
          from,
          to
        })),
        passSeverity: given.passSeverity ?? null,
        passEvents: [...new Set(given.passEvents ?? [])]
      }

/** The settings after a change: what is absent stays, null clears. */
export const mailOf = (url: string, given: MailInput, before: MailSettings | null): MailSettings => ({
  tls: isImplicit(url)
    ? "implicit"
    : (given.tls ?? (before === null || before.tls === "implicit" ? "starttls" : before.tls)),
  user: given.user === undefined ? (before?.user ?? null) : given.user,
  password: given.password === undefined ? (before?.password ?? null) : given.password,
  from: given.from ?? before?.from ?? "",
  to: given.to ?? before?.to ?? []
})

interface Facts {
  readonly kind: WebhookKind
  readonly url: string
  readonly given: MailInput | null
  readonly mail: MailSettings
}

export const mailProblem = ({ given, kind, mail, url }: Facts): FieldProblem | null => {
  const problem = (field: string, message: string): FieldProblem => ({ field, message })
  if (kind !== "email") {
    if (isMailAddress(url)) return problem("url", "is the address of a mail server, which only the kind 'email' has")
    return given === null ? null : problem("mail", "is only for the kind 'email'")
  }
  if (serverOf(url) === null) {
    return problem("url", "must be the address of a mail server: smtps://host:465 or smtp://host:587")
  }
  if (mail.from === "") return problem("mail.from", "is missing")
  if (mail.to.length === 0) return problem("mail.to", "is missing")
  if (given?.tls !== undefined && given.tls !== mail.tls) {
    return problem("mail.tls", "is 'implicit' for an address smtps://, and 'starttls' or 'none' for smtp://")
  }
  if (mail.tls === "implicit" && !isImplicit(url)) return problem("mail.tls", "'implicit' needs an address smtps://")
  if (mail.tls === "none" && mail.user !== null) {
    return problem("mail.tls", "'none' would show the password to everybody on the way; log in with TLS")
  }
  return (mail.user === null) === (mail.password === null)
    ? null
    : problem("mail.password", "belongs to mail.user; give both or none")
}
