/** Words of the area of the audit log. */
export const words = {
  title: "Audit",
  hint: "One row for each request that may change something, refused ones and logins too. Kept for 180 days.",
  filter: "Filter the audit log",
  action: "What",
  actor: "Who",
  target: "To what",
  status: "How it ended",
  statuses: [
    ["", "all"],
    ["success", "done"],
    ["failure", "refused"]
  ] as ReadonlyArray<readonly [string, string]>,
  from: "From",
  to: "Before",
  show: "Show",
  all: "Show all",
  none: "No row. Take a word off the filter; where there is none, nothing was changed yet.",
  columns: ["When", "Who", "What", "To what", "Ended", "Detail"],
  done: "done",
  refused: (status: number): string => `refused, ${status}`,
  nothing: "–",
  more: "More",
  less: "Less",
  about: (word: string, action: string): string => `${word} about ${action}`,
  who: (actor: string, keyName: string | undefined): string => {
    if (keyName !== undefined) return `key “${keyName}”`
    const [kind = "", id = ""] = actor.split(":")
    if (kind === "session") return `session ${id.slice(0, 8)}`
    if (kind === "apiKey") return `key ${id}`
    return (
      (
        {
          "admin-key": "admin key",
          admin: "administrator",
          owner: "command on this machine",
          gateway: "the gateway itself",
          anonymous: "nobody known"
        } as Readonly<Record<string, string>>
      )[actor] ?? actor
    )
  },
  when: "When",
  address: "From",
  answer: "Answer",
  request: "Request",
  asKey: "With the rights of key",
  sent: "Fields sent",
  differences: "What was before and after",
  differenceColumns: ["Field", "Before", "After"],
  noDifferences: "No field of an object is different after it.",
  nothingChanged: "Nothing was changed.",
  absent: "not there",
  hidden: "changed; not kept"
} as const
