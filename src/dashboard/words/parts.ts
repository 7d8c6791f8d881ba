/** Words that several areas of the system use. */
export const words = {
  pages: "Pages",
  first: "First page",
  before: "Page before",
  next: "Next page",
  yes: "yes",
  no: "no",
  on: "on",
  off: "off",
  undo: "Undo",
  back: "Back to the list",
  notSaved: "What you type is stored when you save.",
  wait: "One moment …"
} as const
