/** Words of the area of sessions. */
import { plural } from "../plural.ts"

export const words = {
  title: "Sessions and locks",
  hint: "Who is logged in as administrator. A session ends after 12 hours without use, and after 7 days in any case.",
  none: "Nobody is logged in: you use the admin key. Log in with the admin password to have a session.",
  alone: "Only you are logged in.",
  list: "Sessions",
  columns: ["Session", "Began by", "From", "Browser", "Last used", "Ends at the latest", "Actions"],
  own: "this one",
  via: { password: "password", code: "gateway open", issuer: "directory", commandLine: "command line" } as Readonly<
    Record<string, string>
  >,
  unknownAddress: "not known",
  unknownAgent: "says nothing",
  end: "End",
  ended: (value: number): string =>
    plural(value, { one: "The session is ended.", other: `${value} sessions are ended.` }),
  endOthers: "End all others",
  othersName: "end all others",
  endOthersMeans: (value: number): string =>
    plural(value, {
      one: "The other session ends at once; whoever uses it has to log in again, and what was typed there is lost.",
      other: `The ${value} other sessions end at once; whoever uses them has to log in again.`
    }),
  locks: "Who has to wait before another login",
  noLocks: "Nobody. An address has to wait after several wrong passwords.",
  everybody: "all addresses together",
  unlock: "Let it log in",
  unlockAll: "Let all log in",
  unlocked: "They may log in again."
} as const
