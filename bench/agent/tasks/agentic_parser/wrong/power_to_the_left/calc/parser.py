"""Text of a formula -> tree, with the parser of Python."""

import ast

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.BitXor: "^"}


class ParseError(Exception):
    """The text is no formula."""

    def __init__(self, position):
        super().__init__(f"no formula: see character {position}")
        self.position = position


def parse(text):
    try:
        return _tree(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise ParseError((error.offset or 1) + 1 - text.startswith("(")) from error


def _tree(node):
    if isinstance(node, ast.Constant):
        return ["number", node.value]
    if isinstance(node, ast.Name):
        return ["name", node.id]
    if isinstance(node, ast.UnaryOp):
        return ["negative", _tree(node.operand)]
    if isinstance(node, ast.Call):
        return ["call", node.func.id, [_tree(argument) for argument in node.args]]
    return [_SIGNS[type(node.op)], _tree(node.left), _tree(node.right)]
