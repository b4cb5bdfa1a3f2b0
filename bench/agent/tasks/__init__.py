"""One folder of data per coding task; docs/coding-tasks.md says what is in one."""
