"""What the nodes of a project read."""

from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph


def test_a_node_reads_what_the_functions_read_that_it_calls():
    def node(name, *parents):
        depends_on = {"nodes": list(parents)}
        return {"unique_id": name, "resource_type": "model", "depends_on": depends_on}

    source = {"database": None, "schema": "raw", "identifier": "events"}
    functions = {"f.inner": node("f.inner", "m.orders", "s.events"), "f": node("f", "f.inner")}
    # The names of the readers come first.
    nodes = {each["unique_id"]: each for each in (node("m.a", "f"), node("m.orders"))}
    graph = NodeGraph({"nodes": nodes, "functions": functions, "sources": {"s.events": source}})
    assert [each["unique_id"] for each in graph.in_order()] == ["m.orders", "m.a"]
    assert graph.inputs(nodes["m.a"]) == graph.inputs(functions["f"]) == ["m.orders"]
    assert list(graph.sources(nodes["m.a"])) == [("raw", "events")]
