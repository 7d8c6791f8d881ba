/** The commands that use models: what clients of the gateway do, from the command line. */
import { type TreeNode, from, group } from "../../tree/Tree.ts"
import { list } from "../../tree/verbs.ts"

const fromChat = from(() => import("./chat/chat.ts"))
const fromPut = from(() => import("../../../subjects/files/commands/put.ts"))
const fromShow = from(() => import("../../../subjects/files/commands/show.ts"))
const fromGet = from(() => import("../../../subjects/files/commands/get.ts"))
const fromCreate = from(() => import("../../../subjects/batches/commands/create.ts"))
const fromCommandsShow = from(() => import("../../../subjects/batches/commands/show.ts"))
const fromWatch = from(() => import("../../../subjects/batches/commands/watch.ts"))
const fromImage = from(() => import("./image/image.ts"))
const fromSpeak = from(() => import("./speak.ts"))
const fromTranscribe = from(() => import("./transcribe.ts"))
const fromEmbed = from(() => import("./embed.ts"))
const fromSearch = from(() => import("./search.ts"))

export const chat = fromChat(
  "chat",
  "chatCommand",
  "Talk to a model; see image, speak, transcribe, embed, search and test.",
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
    fromPut("put", "filesPut", "Upload files.", {
      aliases: ["upload"],
      examples: [
        "files put lines.jsonl --purpose batch",
        "files put report.pdf --expires-after 7d",
        "files put - --name log.txt"
      ]
    }),
    fromShow("list", "filesList", "List your files, the newest first.", {
      ...list,
      examples: ["files list", "files list --purpose batch --json"]
    }),
    fromShow("show", "filesShow", "Show a file: its name, size, purpose and when it expires.", {
      examples: ["files show lines.jsonl", "files show file-0199aa6e --json"]
    }),
    fromGet("get", "filesGet", "Download a file; the program checks that it came whole.", {
      aliases: ["download"],
      prints: false,
      examples: ["files get lines.jsonl", "files get file-0199aa6e results.jsonl --force", "files get lines.jsonl -"]
    }),
    fromShow("rm", "filesRemove", "Delete files.", {
      aliases: ["remove", "delete"],
      examples: ["files rm lines.jsonl"]
    })
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
    fromCreate("create", "batchesCreate", "Make a batch of a file of lines.", {
      examples: [
        "batches create lines.jsonl --watch",
        "batches create lines.jsonl --endpoint /v1/embeddings --metadata job=nightly",
        "batches create file-0199aa6e6f0b7d3c8f52a1b2c3d4e5f6 --json"
      ]
    }),
    fromCommandsShow("list", "batchesList", "List your batches, the newest first.", {
      ...list,
      examples: ["batches list", "batches list --limit 100 --json"]
    }),
    fromCommandsShow("show", "batchesShow", "Show a batch and the files with its results.", {
      examples: ["batches show batch_0199aa6e"]
    }),
    fromWatch("watch", "batchesWatch", "Show how a batch goes on, until it is over.", {
      examples: ["batches watch batch_0199aa6e", "batches watch batch_0199aa6e --json"]
    }),
    fromCommandsShow("cancel", "batchesCancel", "Cancel a batch; what was answered stays.", {
      examples: ["batches cancel batch_0199aa6e"]
    })
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
  fromImage("image", "imageCommand", "Make pictures of a description, or change pictures.", {
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
  }),
  fromSpeak("speak", "speakCommand", "Speak a text into a file, or into a pipe.", {
    section: "Use",
    skill: "cli-chat",
    besides: true,
    prints: false,
    examples: ["speak 'Good morning' -o morning.mp3", "speak --voice nova -o notes.wav < notes.txt"]
  }),
  fromTranscribe("transcribe", "transcribeCommand", "Write down what is said in a recording.", {
    section: "Use",
    skill: "cli-chat",
    besides: true,
    prints: false,
    examples: ["transcribe meeting.mp3", "transcribe talk.mp3 --format srt -o talk.srt"]
  }),
  fromEmbed("embed", "embedCommand", "Make vectors of texts.", {
    section: "Use",
    skill: "cli-chat",
    besides: true,
    examples: ["embed 'a text' 'another'", "embed --json < lines.txt"]
  })
]

export const search = group(
  "search",
  "Search the web with the providers that are connected.",
  [
    fromSearch("web", "searchWeb", "Search; the word may be left out.", {
      examples: [
        "search what is an api gateway",
        "search 'release notes' --type news -n 10",
        "search web providers --provider brave --json"
      ]
    }),
    fromSearch("providers", "searchProviders", "List the providers of searches, and which are connected.", {
      examples: ["search providers", "search providers --json"]
    }),
    fromSearch("stats", "searchStats", "Show what searches have done and cost at each provider.", {
      aliases: ["analytics"],
      examples: ["search stats"]
    })
  ],
  {
    section: "Use",
    skill: "cli-chat",
    besides: true,
    otherwise: { name: "web", takesWords: true },
    examples: ["search what is an api gateway", "search providers", "search stats"]
  }
)
