/** The commands about captured traffic. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const fromSessions = from(() => import("./sessions.ts"))
const fromBrowse = from(() => import("./browse.ts"))
const fromShow = from(() => import("./show.ts"))
const fromTail = from(() => import("./tail.ts"))
const fromReplay = from(() => import("./replay.ts"))

const sessions = group(
  "sessions",
  "Recorded sessions: what was captured, kept on file.",
  [
    fromSessions("list", "sessionsList", "List the recorded sessions.", {
      ...list,
      examples: ["inspect sessions list"]
    }),
    fromSessions("start", "sessionsStart", "Record what is captured from now on. Its id is printed on stdout.", {
      examples: ["inspect sessions start", "inspect sessions start --name 'before the upgrade'"]
    }),
    fromSessions("stop", "sessionsStop", "Stop recording and save the session.", {
      examples: ["inspect sessions stop"]
    }),
    fromSessions("rename", "sessionsRename", "Give a session another name.", {
      examples: ["inspect sessions rename 0199aa6e 'after the upgrade'"]
    }),
    fromSessions("show", "sessionsShow", "Show the requests of a session.", {
      aliases: ["get"],
      examples: ["inspect sessions show 0199aa6e"]
    }),
    fromSessions("export", "sessionsExport", "Write a session as an HTTP archive or as lines of JSON.", {
      examples: ["inspect sessions export 0199aa6e --out session.har"]
    }),
    fromSessions("import", "sessionsImport", "Make a session of an HTTP archive of any program.", {
      examples: ["inspect sessions import browser.har"]
    }),
    fromSessions("remove", "sessionsRemove", "Remove a session with its requests.", {
      ...remove,
      examples: ["inspect sessions remove 0199aa6e"]
    })
  ],
  { examples: ["inspect sessions start", "inspect sessions list"] }
)

const inspect = group(
  "inspect",
  "What programs sent to models, what came back, and who broke the cache.",
  [
    fromBrowse("browse", "inspectBrowse", "Move in the captured requests at a terminal; elsewhere list them.", {
      examples: ["inspect", "inspect browse"]
    }),
    fromShow("list", "inspectList", "List the captured requests, the newest last.", {
      ...list,
      examples: ["inspect list", "inspect list --profile llm --status 5xx", "inspect list --search timeout"]
    }),
    fromShow("show", "inspectShow", "Show a captured request with headers and bodies; secrets are masked.", {
      aliases: ["get"],
      examples: ["inspect show 0199aa6e"]
    }),
    fromTail("tail", "inspectTail", "Show captured requests as they end, with tokens, cost and cache.", {
      aliases: ["follow"],
      examples: ["inspect tail", "inspect tail --profile llm --json"]
    }),
    fromShow("conversation", "inspectConversation", "Show a request and its answer as turns of a conversation.", {
      examples: ["inspect conversation 0199aa6e"]
    }),
    fromShow("anatomy", "inspectAnatomy", "Show what fills the context window of a request.", {
      examples: ["inspect anatomy 0199aa6e"]
    }),
    fromShow("diff", "inspectDiff", "Show what differs between two requests.", {
      aliases: ["compare"],
      examples: ["inspect diff 0199aa6e 0199aa6f"]
    }),
    fromShow("cache", "inspectCache", "Show who broke the prompt cache, where, and what it cost.", {
      examples: ["inspect cache", "inspect cache 0199aa6e"]
    }),
    fromReplay("replay", "inspectReplay", "Ask a captured request again; its answer is shown as it comes.", {
      examples: ["inspect replay 0199aa6e", "inspect replay 0199aa6e --model openai/gpt-4o-mini"]
    }),
    fromShow("note", "inspectNote", "Write a note to a request.", {
      examples: ["inspect note 0199aa6e 'the first one after the upgrade'"]
    }),
    fromSessions("export", "inspectExport", "Write captured requests as an HTTP archive or as lines of JSON.", {
      examples: ["inspect export --out requests.har", "inspect export --jsonl --profile llm"]
    }),
    fromShow("clear", "inspectClear", "Forget all captured requests; recorded sessions stay.", {
      examples: ["inspect clear"]
    }),
    sessions
  ],
  {
    section: "Watch",
    skill: "cli-cost-usage",
    besides: true,
    otherwise: { name: "browse", takesWords: false },
    examples: ["inspect", "inspect tail", "inspect cache"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [inspect]
