/** Words of the area of skills. */

export const words = {
  title: "Skills",
  hint: "Pages that tell an agent how to use and operate this gateway, made from the running program. Reading them needs no key.",
  write: "Write them as files",
  tryOut: "Show what would be written",
  report: "What was written",
  written: "The files are in this folder on the gateway's machine:",
  wouldWrite: "Nothing was written. The files would be in this folder on the gateway's machine:",
  generated: "Written",
  unchanged: "As they should be",
  orphans: "Folders that are no skills",
  coverage: (skills: number, routes: number, allRoutes: number, commands: number, allCommands: number): string =>
    `${skills} skills tell of ${routes} of ${allRoutes} routes and ${commands} of ${allCommands} commands.`,
  kinds: "Kinds of skills",
  all: "All",
  categories: { api: "Routes", cli: "Commands" },
  none: "No skill of this kind.",
  columns: ["Skill", "About", "When an agent reads it"],
  install: "Give it to an agent",
  installHint: "This puts it where Claude Code looks for skills; other agents have folders of their own.",
  page: "Its page"
} as const
