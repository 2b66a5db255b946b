"""XML parsers and elements that a compiled function makes, and the program's functions that they call."""

import io
import unittest
import xml.etree.ElementTree as ElementTree
from pyexpat import ExpatError, ParserCreate

import slotrt

TEXT = "<!DOCTYPE a [<!ENTITY e 'entity'>]><a x='1' y='2'>text<b/>&e;<?go on?><!-- no --></a>"


class Handlers:
    def __init__(self):
        self.events = []

    def start(self, name, attributes):
        self.events.append((name, attributes))

    def end(self, name):
        self.events.append(name)


class Target(Handlers):
    def data(self, text):
        self.events.append(text)

    def close(self):
        return self.events


class Building(ElementTree.TreeBuilder):
    def start(self, tag, attributes):
        return super().start(tag.upper(), attributes)

    def end(self, tag):
        return super().end(tag.upper())


def events(text):
    parser, handlers = ParserCreate(), Handlers()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = handlers.start, handlers.end
    parser.CharacterDataHandler = handlers.events.append
    parser.CommentHandler = lambda text: handlers.events.append(len(text))
    done = parser.Parse(text, True)
    return handlers.events, done, parser.CurrentLineNumber, parser.EndElementHandler == handlers.end, parser.buffer_text


def in_parts(text):
    parser, seen = ParserCreate(namespace_separator=" "), {}

    def start(name, attributes):
        seen[name] = parser.CurrentByteIndex, list(attributes)

    parser.StartElementHandler = start
    for letter in text:
        parser.Parse(letter)
    parser.Parse("", True)
    parser.StartElementHandler = None
    return seen, parser.StartElementHandler


def of_a_file(data):
    parser, handlers = ParserCreate(), Handlers()
    parser.StartElementHandler = handlers.start
    return parser.ParseFile(io.BytesIO(data)), handlers.events


def printing(text):
    parser = ParserCreate()
    parser.CharacterDataHandler = print
    return parser.Parse(text, True)


def wrong(text):
    parser = ParserCreate()
    try:
        parser.Parse(text, True)
    except ExpatError as error:
        return str(error), error.code, error.lineno, error.offset, parser.ErrorCode


def raising(text):
    def start(name, attributes):
        raise KeyError(name)

    parser = ParserCreate()
    parser.StartElementHandler = start
    try:
        parser.Parse(text, True)
    except KeyError as error:
        depth, entry = 0, error.__traceback__
        while entry:
            depth, entry = depth + 1, entry.tb_next
        return error.args, depth


def tree(text):
    root = ElementTree.fromstring(text)
    return [(element.tag, element.text, element.tail, element.attrib) for element in root.iter()]


def made():
    root = ElementTree.Element("a", {"x": "1"}, y="2")
    child = ElementTree.SubElement(root, "b")
    child.text, child.tail = "t", "u"
    root.append(ElementTree.Comment("c"))
    root[1:1] = [ElementTree.Element("d"), child]
    found = root.find("b"), root.findall("*"), list(root.itertext())
    root.set("z", "3")
    child.clear()
    return found[0] is child, len(found[1]), found[2], root.items(), ElementTree.tostring(root), root[0] is root[2]


def with_a_target(text):
    parser = ElementTree.XMLParser(target=Target())
    parser.feed(text)
    return parser.close()


def with_a_builder(text):
    parser = ElementTree.XMLParser(target=Building())
    parser.feed(text)
    return ElementTree.tostring(parser.close())


def with_a_factory(text):
    tags = []

    def factory(tag, attributes):
        tags.append(tag)
        return ElementTree.Element(tag + "_", attributes)

    builder = ElementTree.TreeBuilder(element_factory=factory)
    parser = ElementTree.XMLParser(target=builder)
    parser.feed(text)
    return ElementTree.tostring(parser.close()), tags


def wrong_tree(text):
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return str(error), error.position, error.code


def wrong_arguments():
    found = []
    for act in (
        lambda: ElementTree.TreeBuilder().start("tag"),
        lambda: ElementTree.Element(),
        lambda: ElementTree.Element("a").append("b"),
        lambda: ElementTree.SubElement("a", "b"),
        lambda: ElementTree.Element("a")[0],
    ):
        try:
            act()
        except (IndexError, TypeError) as error:
            found.append((type(error), str(error)))
    return found


def returned():
    root = ElementTree.Element("a")
    return root, ElementTree.SubElement(root, "b")


class Parsers(unittest.TestCase):
    def check(self, function, *args, fullgraph=True):
        compiled = slotrt.compile(function, fullgraph=fullgraph)
        for _ in range(2):
            with self.subTest(function=function.__name__):
                self.assertEqual(compiled(*args), function(*args))

    def test_events(self):
        for function in (events, in_parts, wrong):
            self.check(function, TEXT)
        self.check(wrong, "<a>\n<b></a>")
        self.check(of_a_file, b"<a><b z='1'/></a>")

    def test_trees(self):
        for function in (tree, with_a_target, with_a_builder, with_a_factory):
            self.check(function, "<a x='1'>t<b>u</b>v</a>")
        self.check(wrong_tree, "<a><b></a>")
        self.check(made)
        self.check(wrong_arguments)

    def test_what_breaks(self):
        self.check(raising, "<a/>", fullgraph=False)
        compiled = slotrt.compile(returned)
        for _ in range(2):
            root, child = compiled()
            self.assertIs(root[0], child)

    def test_a_handler_that_prints(self):
        import contextlib

        compiled = slotrt.compile(printing)
        for _ in range(2):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                compiled("<a>once</a>")
            self.assertEqual(output.getvalue(), "once\n")


if __name__ == "__main__":
    unittest.main()
