/** Words of the area of the compression. */
export const words = {
  title: "Compression",
  hint: "How requests are made smaller before they are sent. Code, numbers, names and what was said last are left as they are.",
  saved: "What it saved in 30 days",
  savedTokens: "Tokens saved",
  savedPart: "Part of the tokens",
  changed: "Requests made smaller",
  of: (value: string): string => `of ${value}`,
  none: "No request was made smaller yet. Try one below, then switch it on.",
  byMode: ["By what was used", "Requests", "Tokens before", "Tokens after", "Saved"],
  try: "Try a request",
  tryHint: "A request as a client would send it. Nothing of it is kept, and no model is asked.",
  engine: "Engine",
  asSettings: "as the settings say",
  run: "Show what becomes of it",
  before: "Before",
  after: "After",
  tokens: (value: string): string => `${value} tokens`,
  savedPercent: (value: string): string => `${value} saved`,
  unchanged: "Nothing is made smaller.",
  perEngine: ["Engine", "Tokens before", "Tokens after", "Time"],
  kept: "Protected parts, all of them still there",
  wrongJson: "This is no JSON object.",
  settings: "Settings",
  engines: "Settings of the single engines",
  caveman: "Prose (caveman)",
  rtk: "Output of commands (rtk)",
  combos: "Compression combos",
  example: {
    messages: [
      {
        role: "user",
        content:
          "I would basically just like to ask you to please make sure that you actually read the file src/index.ts, and in order to be really sure, it would be great if you could perhaps also run the tests."
      },
      {
        role: "assistant",
        content: "I have read src/index.ts, and all 12 tests have passed."
      },
      { role: "user", content: "Now summarise the report." }
    ]
  }
} as const
