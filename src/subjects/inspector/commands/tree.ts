/** The commands about captured traffic. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const sessions = group(
  "sessions",
  "Recorded sessions: what was captured, kept on file.",
  [
    command(
      "list",
      "List the recorded sessions.",
      () => import("./sessions.ts"),
      (m) => m.sessionsList,
      { ...list, examples: ["inspect sessions list"] }
    ),
    command(
      "start",
      "Record what is captured from now on. Its id is printed on stdout.",
      () => import("./sessions.ts"),
      (m) => m.sessionsStart,
      { examples: ["inspect sessions start", "inspect sessions start --name 'before the upgrade'"] }
    ),
    command(
      "stop",
      "Stop recording and save the session.",
      () => import("./sessions.ts"),
      (m) => m.sessionsStop,
      { examples: ["inspect sessions stop"] }
    ),
    command(
      "rename",
      "Give a session another name.",
      () => import("./sessions.ts"),
      (m) => m.sessionsRename,
      { examples: ["inspect sessions rename 0199aa6e 'after the upgrade'"] }
    ),
    command(
      "show",
      "Show the requests of a session.",
      () => import("./sessions.ts"),
      (m) => m.sessionsShow,
      { aliases: ["get"], examples: ["inspect sessions show 0199aa6e"] }
    ),
    command(
      "export",
      "Write a session as an HTTP archive or as lines of JSON.",
      () => import("./sessions.ts"),
      (m) => m.sessionsExport,
      { examples: ["inspect sessions export 0199aa6e --out session.har"] }
    ),
    command(
      "import",
      "Make a session of an HTTP archive of any program.",
      () => import("./sessions.ts"),
      (m) => m.sessionsImport,
      { examples: ["inspect sessions import browser.har"] }
    ),
    command(
      "remove",
      "Remove a session with its requests.",
      () => import("./sessions.ts"),
      (m) => m.sessionsRemove,
      { ...remove, examples: ["inspect sessions remove 0199aa6e"] }
    )
  ],
  { examples: ["inspect sessions start", "inspect sessions list"] }
)

const inspect = group(
  "inspect",
  "What programs sent to models, what came back, and who broke the cache.",
  [
    command(
      "browse",
      "Move in the captured requests at a terminal; elsewhere list them.",
      () => import("./browse.ts"),
      (m) => m.inspectBrowse,
      { examples: ["inspect", "inspect browse"] }
    ),
    command(
      "list",
      "List the captured requests, the newest last.",
      () => import("./show.ts"),
      (m) => m.inspectList,
      {
        ...list,
        examples: ["inspect list", "inspect list --profile llm --status 5xx", "inspect list --search timeout"]
      }
    ),
    command(
      "show",
      "Show a captured request with headers and bodies; secrets are masked.",
      () => import("./show.ts"),
      (m) => m.inspectShow,
      { aliases: ["get"], examples: ["inspect show 0199aa6e"] }
    ),
    command(
      "tail",
      "Show captured requests as they end, with tokens, cost and cache.",
      () => import("./tail.ts"),
      (m) => m.inspectTail,
      { aliases: ["follow"], examples: ["inspect tail", "inspect tail --profile llm --json"] }
    ),
    command(
      "conversation",
      "Show a request and its answer as turns of a conversation.",
      () => import("./show.ts"),
      (m) => m.inspectConversation,
      { examples: ["inspect conversation 0199aa6e"] }
    ),
    command(
      "anatomy",
      "Show what fills the context window of a request.",
      () => import("./show.ts"),
      (m) => m.inspectAnatomy,
      { examples: ["inspect anatomy 0199aa6e"] }
    ),
    command(
      "diff",
      "Show what differs between two requests.",
      () => import("./show.ts"),
      (m) => m.inspectDiff,
      { aliases: ["compare"], examples: ["inspect diff 0199aa6e 0199aa6f"] }
    ),
    command(
      "cache",
      "Show who broke the prompt cache, where, and what it cost.",
      () => import("./show.ts"),
      (m) => m.inspectCache,
      { examples: ["inspect cache", "inspect cache 0199aa6e"] }
    ),
    command(
      "replay",
      "Ask a captured request again; its answer is shown as it comes.",
      () => import("./replay.ts"),
      (m) => m.inspectReplay,
      { examples: ["inspect replay 0199aa6e", "inspect replay 0199aa6e --model openai/gpt-4o-mini"] }
    ),
    command(
      "note",
      "Write a note to a request.",
      () => import("./show.ts"),
      (m) => m.inspectNote,
      { examples: ["inspect note 0199aa6e 'the first one after the upgrade'"] }
    ),
    command(
      "export",
      "Write captured requests as an HTTP archive or as lines of JSON.",
      () => import("./sessions.ts"),
      (m) => m.inspectExport,
      { examples: ["inspect export --out requests.har", "inspect export --jsonl --profile llm"] }
    ),
    command(
      "clear",
      "Forget all captured requests; recorded sessions stay.",
      () => import("./show.ts"),
      (m) => m.inspectClear,
      { examples: ["inspect clear"] }
    ),
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
