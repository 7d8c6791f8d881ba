/** The commands about who is signed in. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const fromOpen = from(() => import("./open.ts"))
const fromWhoami = from(() => import("./whoami.ts"))
const fromSessions = from(() => import("./sessions.ts"))

const open = fromOpen("open", "openCommand", "Open the dashboard in the browser, signed in.", {
  section: "Start",
  skill: "cli-serve",
  aliases: ["dashboard"],
  besides: true,
  examples: ["open", "open --json"]
})

const sessions = group(
  "admin-session",
  "Who is signed in as administrator; see sessions for callers.",
  [
    fromSessions("list", "sessionList", "List the sessions of administrators.", {
      ...list,
      examples: ["admin-session list", "admin-session list --json"]
    }),
    fromSessions("end", "sessionEnd", "End a session, or all of them.", {
      ...remove,
      examples: ["admin-session end 9f2c4b7d81e05a63", "admin-session end --all"]
    })
  ],
  {
    section: "Settings",
    skill: "cli-setup",
    hidden: true,
    aliases: ["admin-sessions"],
    otherwise: { name: "list", takesWords: false },
    examples: ["admin-session list", "admin-session end --all"]
  }
)

const whoami = fromWhoami("whoami", "whoamiCommand", "Show who you are to the gateway, and what you may do.", {
  section: "Start",
  skill: "cli-contexts",
  // The help of the program fits one screen without it; 'login' names it.
  besides: true,
  examples: ["whoami", "whoami --json"]
})

export const commands: ReadonlyArray<TreeNode> = [open, whoami, sessions]
