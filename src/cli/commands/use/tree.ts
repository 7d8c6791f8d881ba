/** The commands that use models: what clients of the gateway do, from the command line. */
import { command, group, type TreeNode } from "../../tree/Tree.ts"
import { list } from "../../tree/verbs.ts"

export const chat = command(
  "chat",
  "Talk to a model; see image, speak, transcribe, embed, search and test.",
  () => import("./chat/chat.ts"),
  (m) => m.chatCommand,
  {
    section: "Use",
    skill: "cli-chat",
    prints: false,
    examples: [
      "chat 'Say hello in one word.'",
      "chat -m openai/gpt-4o 'What is wrong here?' @main.ts @screen.png",
      "chat -s 'Answer in French.' < question.txt",
      "chat"
    ]
  }
)

export const files = group(
  "files",
  "Files that requests refer to: upload, list and fetch them; see batches.",
  [
    command(
      "put",
      "Upload files.",
      () => import("../../../subjects/files/commands/put.ts"),
      (m) => m.filesPut,
      {
        aliases: ["upload"],
        examples: [
          "files put lines.jsonl --purpose batch",
          "files put report.pdf --expires-after 7d",
          "files put - --name log.txt"
        ]
      }
    ),
    command(
      "list",
      "List your files, the newest first.",
      () => import("../../../subjects/files/commands/show.ts"),
      (m) => m.filesList,
      { ...list, examples: ["files list", "files list --purpose batch --json"] }
    ),
    command(
      "show",
      "Show a file: its name, size, purpose and when it expires.",
      () => import("../../../subjects/files/commands/show.ts"),
      (m) => m.filesShow,
      { examples: ["files show lines.jsonl", "files show file-0199aa6e --json"] }
    ),
    command(
      "get",
      "Download a file; the program checks that it came whole.",
      () => import("../../../subjects/files/commands/get.ts"),
      (m) => m.filesGet,
      {
        aliases: ["download"],
        prints: false,
        examples: ["files get lines.jsonl", "files get file-0199aa6e results.jsonl --force", "files get lines.jsonl -"]
      }
    ),
    command(
      "rm",
      "Delete files.",
      () => import("../../../subjects/files/commands/show.ts"),
      (m) => m.filesRemove,
      { aliases: ["remove", "delete"], examples: ["files rm lines.jsonl"] }
    )
  ],
  {
    section: "Use",
    skill: "cli-batches",
    aliases: ["file"],
    examples: ["files put lines.jsonl --purpose batch", "files list"]
  }
)

export const batches = group(
  "batches",
  "Many requests without waiting for them: make, watch and cancel batches.",
  [
    command(
      "create",
      "Make a batch of a file of lines.",
      () => import("../../../subjects/batches/commands/create.ts"),
      (m) => m.batchesCreate,
      {
        examples: [
          "batches create lines.jsonl --watch",
          "batches create lines.jsonl --endpoint /v1/embeddings --metadata job=nightly",
          "batches create file-0199aa6e6f0b7d3c8f52a1b2c3d4e5f6 --json"
        ]
      }
    ),
    command(
      "list",
      "List your batches, the newest first.",
      () => import("../../../subjects/batches/commands/show.ts"),
      (m) => m.batchesList,
      { ...list, examples: ["batches list", "batches list --limit 100 --json"] }
    ),
    command(
      "show",
      "Show a batch and the files with its results.",
      () => import("../../../subjects/batches/commands/show.ts"),
      (m) => m.batchesShow,
      { examples: ["batches show batch_0199aa6e"] }
    ),
    command(
      "watch",
      "Show how a batch goes on, until it is over.",
      () => import("../../../subjects/batches/commands/watch.ts"),
      (m) => m.batchesWatch,
      { examples: ["batches watch batch_0199aa6e", "batches watch batch_0199aa6e --json"] }
    ),
    command(
      "cancel",
      "Cancel a batch; what was answered stays.",
      () => import("../../../subjects/batches/commands/show.ts"),
      (m) => m.batchesCancel,
      { examples: ["batches cancel batch_0199aa6e"] }
    )
  ],
  {
    besides: true,
    section: "Use",
    skill: "cli-batches",
    aliases: ["batch"],
    examples: ["batches create lines.jsonl --watch", "batches list"]
  }
)

export const media: ReadonlyArray<TreeNode> = [
  command(
    "image",
    "Make pictures of a description, or change pictures.",
    () => import("./image/image.ts"),
    (m) => m.imageCommand,
    {
      section: "Use",
      skill: "cli-chat",
      besides: true,
      prints: false,
      examples: [
        "image 'A lighthouse at dusk' -o lighthouse.png",
        "image 'A lighthouse' -n 3 --size 1024x1024 -o out.png",
        "image 'Make it night' --edit lighthouse.png -o night.png",
        "image 'Add a door' --edit house.png --mask wall.png -o out.png"
      ]
    }
  ),
  command(
    "speak",
    "Speak a text into a file, or into a pipe.",
    () => import("./speak.ts"),
    (m) => m.speakCommand,
    {
      section: "Use",
      skill: "cli-chat",
      besides: true,
      prints: false,
      examples: ["speak 'Good morning' -o morning.mp3", "speak --voice nova -o notes.wav < notes.txt"]
    }
  ),
  command(
    "transcribe",
    "Write down what is said in a recording.",
    () => import("./transcribe.ts"),
    (m) => m.transcribeCommand,
    {
      section: "Use",
      skill: "cli-chat",
      besides: true,
      prints: false,
      examples: ["transcribe meeting.mp3", "transcribe talk.mp3 --format srt -o talk.srt"]
    }
  ),
  command(
    "embed",
    "Make vectors of texts.",
    () => import("./embed.ts"),
    (m) => m.embedCommand,
    {
      section: "Use",
      skill: "cli-chat",
      besides: true,
      examples: ["embed 'a text' 'another'", "embed --json < lines.txt"]
    }
  )
]

export const search = group(
  "search",
  "Search the web with the providers that are connected.",
  [
    command(
      "web",
      "Search; the word may be left out.",
      () => import("./search.ts"),
      (m) => m.searchWeb,
      {
        examples: [
          "search what is an api gateway",
          "search 'release notes' --type news -n 10",
          "search web providers --provider brave --json"
        ]
      }
    ),
    command(
      "providers",
      "List the providers of searches, and which are connected.",
      () => import("./search.ts"),
      (m) => m.searchProviders,
      { examples: ["search providers", "search providers --json"] }
    ),
    command(
      "stats",
      "Show what searches have done and cost at each provider.",
      () => import("./search.ts"),
      (m) => m.searchStats,
      { aliases: ["analytics"], examples: ["search stats"] }
    )
  ],
  {
    section: "Use",
    skill: "cli-chat",
    besides: true,
    otherwise: { name: "web", takesWords: true },
    examples: ["search what is an api gateway", "search providers", "search stats"]
  }
)
