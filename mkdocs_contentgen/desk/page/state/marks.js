// Marks of statements in Markdown.

export const withoutMarks = (markdown) => markdown.replace(/==|<\/?mark>/g, "");
